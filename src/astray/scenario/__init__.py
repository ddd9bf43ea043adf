"""Scenarios: YAML in, a checked plan out, every fault at once."""
