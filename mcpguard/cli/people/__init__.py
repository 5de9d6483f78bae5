"""`mcpguard user`, `operator` and `held`: people, and what waits for them."""
