"""Searching in records: by the values of their columns, with an index that is made after their commit."""
