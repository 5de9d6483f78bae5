"""Reads the texts of a definition or a reply, once for all detectors."""
