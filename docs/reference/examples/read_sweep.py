import astray

astray.sweep("drift", worlds=4, duration=2, out="study", workers=0)
print(astray.read_sweep("study").done)  # worlds by case
