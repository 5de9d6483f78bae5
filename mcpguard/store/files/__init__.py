"""The data directory and its key files."""
