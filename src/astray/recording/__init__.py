"""Runs as MCAP files with ROS 2 messages: written, mended, read back."""
