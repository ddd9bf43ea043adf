"""The version of astray, which files that it writes carry."""

__version__ = "0.1.0"
