"""Logs of real robots: read from a path, run through the estimators, scored."""

from astray.logs.find import read_logs as read_logs
from astray.logs.log import Log as Log
from astray.logs.log import Reference as Reference
from astray.logs.log import Stream as Stream
from astray.logs.outage import Outages as Outages
from astray.logs.outage import withhold as withhold
from astray.logs.run import Result as Result
from astray.logs.run import run_on_log as run_on_log
from astray.logs.score import Score as Score
from astray.logs.score import score as score
