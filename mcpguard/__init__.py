"""A firewall between AI agents and the MCP servers they use."""

__version__ = "0.1.0"
