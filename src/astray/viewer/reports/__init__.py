"""Reports: a run as one HTML file with figures and metrics."""
