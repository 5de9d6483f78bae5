"""`mcpguard call`, `search`, `connect`, `import`, `stdio` and `caller`: agents, and the programs that run them."""
