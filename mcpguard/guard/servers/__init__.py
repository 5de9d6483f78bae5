"""The servers that the guard knows, where they stand, and what becomes of what they list."""
