"""How beliefs are judged against the truth: metrics, and the past that they need."""
