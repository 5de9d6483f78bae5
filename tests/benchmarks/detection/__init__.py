"""Measures detection on labelled definitions and replies, and learns the weights of the comparison with attacks."""
