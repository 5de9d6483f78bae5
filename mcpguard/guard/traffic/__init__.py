"""What became of calls, counted and told as it happens."""
