"""The packets of the Pioneer protocol, read and written."""
