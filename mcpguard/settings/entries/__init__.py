"""How entries of `mcpServers` are read, one server each."""
