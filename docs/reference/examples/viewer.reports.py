from pathlib import Path

import astray
from astray.viewer.reports import compute_metrics, metrics_csv, read_report_data

sim = astray.load("drift")
sim.write(sim.run(10, log=0.1), "out")
data = read_report_data(Path("out"))
print(data.groups)
print(metrics_csv(compute_metrics(data)))  # as `astray report` writes it
