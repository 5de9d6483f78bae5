"""What may be found and called."""
