"""Messages to and from one server: which request an answer belongs to, and who gets it."""
