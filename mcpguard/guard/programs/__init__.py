"""Programs of agents: what one may call, what is recorded of it, and what becomes of one that waits for a person."""
