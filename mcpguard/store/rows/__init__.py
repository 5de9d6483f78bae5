"""Reads and writes the rows of each table."""
