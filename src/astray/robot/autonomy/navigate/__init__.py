"""Driving to goals: a plan over the known map, and the tracking of its path."""
