"""Detects attacks in the definitions that servers list, and risks in how servers are launched."""
