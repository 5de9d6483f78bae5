"""MCP as a client speaks it, over one connection."""
