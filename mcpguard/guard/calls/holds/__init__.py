"""Calls that are held for approval."""
