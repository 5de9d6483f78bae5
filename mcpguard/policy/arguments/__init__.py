"""Checks of arguments: against the approved definition, and for their size."""
