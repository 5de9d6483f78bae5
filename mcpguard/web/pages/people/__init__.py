"""Pages about users, and signing in."""
