"""What clients want to hear of, and how they are told."""
