"""What text is made of: visible and hidden characters."""
