import astray

log = astray.load("drift", worlds=4).run(20, log=0.1)
worn = log["worn"]
print(log.time.shape, worn.truth["x"].shape)  # (201,) (201, 4): times, and rows
print(worn.metrics["position_error"]["belief"][-1])  # m, in each world
