"""Bytes to values and back: canonical and strict JSON."""
