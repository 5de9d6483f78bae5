"""Finds attacks in what servers answer when they are called."""
