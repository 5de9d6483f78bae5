"""Decides how a declared server is started, and which program exactly."""
