"""Reads text as words, decodes it, and matches phrases: the tools with which detectors read."""
