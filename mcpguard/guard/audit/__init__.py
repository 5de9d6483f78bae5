"""The audit log while the guard runs: it is read, exported, proven, pruned and redacted."""
