"""The data directory, and the files with keys in it."""
