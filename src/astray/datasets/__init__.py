"""Logs of real robots: read from a path, run through the estimators, scored."""

from astray.datasets.dataset import Dataset as Dataset
from astray.datasets.dataset import Reference as Reference
from astray.datasets.dataset import Stream as Stream
from astray.datasets.detect import read_logs as read_logs
from astray.datasets.gnss_outage import Outages as Outages
from astray.datasets.gnss_outage import withhold as withhold
from astray.datasets.run_estimator import EstimatorResult as EstimatorResult
from astray.datasets.run_estimator import run_on_log as run_on_log
from astray.datasets.score import Score as Score
from astray.datasets.score import score_dataset as score_dataset
