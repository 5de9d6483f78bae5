"""`mcpguard audit`: commands that read, verify, export and prune the audit log."""
