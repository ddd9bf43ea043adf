"""Datasets: logs of real robots, read from a path, run through estimators, scored."""

from astray.datasets.bag import BagTopics
from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.gnss_outage import GnssOutageResult, withhold
from astray.datasets.read import read_logs
from astray.datasets.run_estimator import EstimatorResult, run_on_log
from astray.datasets.scoring import Comparison, Score, compare, measure, score

__all__ = [
    "BagTopics",
    "Comparison",
    "Dataset",
    "EstimatorResult",
    "GnssOutageResult",
    "Reference",
    "Score",
    "Stream",
    "compare",
    "measure",
    "read_logs",
    "run_on_log",
    "score",
    "withhold",
]
