"""Settings that may loosen protection, and the rules that result from them."""
