"""Settings that may loosen protection, and the rules that they result in."""
