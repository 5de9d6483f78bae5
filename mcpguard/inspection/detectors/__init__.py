"""Detectors, one per file. Each searches a definition and its surroundings for one kind of behaviour."""
