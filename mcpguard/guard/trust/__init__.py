"""Settings that carry trust, and the rules that they come to."""
