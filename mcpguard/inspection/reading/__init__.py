"""A definition read once for all detectors: its strings, their words, what they decode to, and phrases among them."""
