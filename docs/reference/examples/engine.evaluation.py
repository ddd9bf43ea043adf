import astray

sim = astray.load("drift")
sim.run(10)
for one in sim.robots["slippery"].evaluation.evaluators:  # one per metric and belief
    print(one.metric.name, one.subject, one.values)  # the newest value of each row
