"""What the arguments of a call must be: what the approved definition describes, and no carrier of secrets."""
