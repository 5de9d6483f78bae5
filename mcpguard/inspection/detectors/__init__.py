"""Detectors, one in each file: each searches a definition and its surroundings for one kind of behaviour."""
