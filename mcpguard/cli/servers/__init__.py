"""`mcpguard server`, `tool` and `scan`: servers, their capabilities, and decisions about them."""
