"""`mcpguard server`, `tool` and `scan`: what the guard stands in front of, and decisions about it."""
