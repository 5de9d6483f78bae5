"""The rows of each table, read and written."""
