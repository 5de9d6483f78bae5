"""The use cases: the only code that carries out decisions. Every door (pages, API, MCP, commands) goes through it."""
