"""Wires: other people's programs drive the robots over the protocols that they already speak."""
