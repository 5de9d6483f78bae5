"""Pages about the audit log."""
