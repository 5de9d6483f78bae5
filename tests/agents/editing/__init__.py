"""Changing a program's file."""
