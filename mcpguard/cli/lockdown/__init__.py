"""`mcpguard lockdown`: what an administrator deploys so that the guard is the only way to MCP servers."""
