"""Exact rays against the segments of a map and against robots."""
