"""`mcpguard stdio`: between an agent's streams and the running guard. No framework, so that it starts at once."""
