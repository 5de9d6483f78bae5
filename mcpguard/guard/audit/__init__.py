"""The audit log while the guard runs: it is searched, exported, verified, pruned and redacted."""
