"""`mcpguard audit`: the audit log is read, proven, exported and pruned."""
