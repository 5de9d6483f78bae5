"""Starts, calls and stops the servers behind the guard.

Nothing in this package decides what is allowed.
"""
