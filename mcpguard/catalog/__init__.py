"""The catalog of what can be found and called now: one immutable snapshot, replaced as a whole."""
