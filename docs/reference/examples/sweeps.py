from astray.sweeps import read_sweep, sweep

sweep("drift", worlds=4, duration=2, out="study", workers=0)
print(read_sweep("study").table.dtype.names)
