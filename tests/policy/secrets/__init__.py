"""What looks like a secret, and what does not."""
