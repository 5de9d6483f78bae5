"""The databases: opened, read, written and upgraded."""
