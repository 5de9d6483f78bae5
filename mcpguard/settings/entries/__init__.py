"""Reads the entries of `mcpServers`, one server each."""
