"""The client side of MCP, over one connection."""
