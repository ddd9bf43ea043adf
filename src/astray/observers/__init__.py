"""Whoever watches a run and changes nothing."""
