"""The guard face's own tools: what an agent finds other servers' tools with, and calls them."""
