"""Frozen values and tables that every other layer uses. This package imports no other package of mcpguard."""
