"""Viewers of runs: the live page and reports."""
