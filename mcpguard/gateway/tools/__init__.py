"""The guard face's own tools: agents find the tools of all servers with them, and call them."""
