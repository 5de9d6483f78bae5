"""Counted calls: how many there were in each minute, hour and day, counted from the records of the log."""
