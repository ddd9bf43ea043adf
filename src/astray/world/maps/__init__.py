"""Maps: read from files, generated, described, written."""
