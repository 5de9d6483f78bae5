"""What an administrator deploys so that the guard is the only way to MCP servers: files of the system, per program."""
