"""What text is made of, and how lists of words are read."""
