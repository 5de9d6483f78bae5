"""The catalog of what can currently be found and called: one immutable snapshot, replaced as a whole."""
