"""Supervises the connections to servers: opens, monitors, replaces and closes them."""
