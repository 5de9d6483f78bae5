"""The agents that have a token."""
