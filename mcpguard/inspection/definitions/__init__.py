"""Finds attacks in what servers list, and risks in how they are launched."""
