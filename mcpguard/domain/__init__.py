"""Immutable values and tables that all other layers use.

This package imports no other package of mcpguard.
"""
