"""Detectors of text that tells a model what to do: what it orders, asks for, promises or threatens."""
