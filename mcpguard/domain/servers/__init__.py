"""Servers: their declarations, connections, listings and status."""
