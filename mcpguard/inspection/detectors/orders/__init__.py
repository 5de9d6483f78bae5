"""Texts that tell a model what to do: what is ordered, asked for, promised or threatened."""
