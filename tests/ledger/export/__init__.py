"""The ledger in forms that others read."""
