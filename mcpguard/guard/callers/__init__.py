"""The callers of the guard: agents that have a token, and anonymous ones."""
