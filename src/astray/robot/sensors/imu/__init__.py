"""Inertial measurement units: motion at the mount, and the errors of a grade."""
