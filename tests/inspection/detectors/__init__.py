"""Detectors: what each finds, what it leaves alone, and what no text can make them do."""
