"""Compares texts with published attacks by the words that they share."""
