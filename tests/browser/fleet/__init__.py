"""A company's MCP servers, invented: what the console is looked at with."""
