"""Servers: how they are declared and connected, what they list, and where they stand."""
