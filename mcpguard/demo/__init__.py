"""Two small MCP servers to try mcpguard with: an honest one and a poisoned one. `python -m mcpguard.demo --help`."""
