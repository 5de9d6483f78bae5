"""The doors for agents: MCP over HTTP and over local streams."""
