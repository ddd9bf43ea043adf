"""The formats of map files, a module per format."""
