"""Changing a few members of a program's file, and nothing else of it."""
