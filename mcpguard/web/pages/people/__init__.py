"""Pages about people, and how they sign in."""
