"""The live page: a run in a browser, and its replay."""
