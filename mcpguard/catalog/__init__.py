"""What may be found and called now: one immutable snapshot, replaced whole."""
