"""Run folders: a run's log, scenario and pictures, written and read."""
