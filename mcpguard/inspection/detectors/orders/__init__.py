"""Detectors of text that instructs a model: what it orders, requests, promises or threatens."""
