"""The public MCP conformance suite: what it takes to run it, and a server that has everything it asks for."""
