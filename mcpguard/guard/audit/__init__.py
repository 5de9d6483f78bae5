"""The audit log while the guard runs: search, export, verification, pruning and redaction."""
