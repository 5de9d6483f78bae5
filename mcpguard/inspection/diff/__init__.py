"""Shows a person what has changed in a definition."""
