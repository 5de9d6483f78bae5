"""Servers that come as packages."""
