"""A firewall between AI agents and the MCP servers they use."""

__version__ = "0.2.0.dev0"
