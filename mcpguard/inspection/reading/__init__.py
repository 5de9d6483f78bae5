"""The tools with which detectors read text: splitting it into words, decoding it, and matching phrases."""
