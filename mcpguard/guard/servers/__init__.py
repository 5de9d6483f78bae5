"""The servers that the guard knows, their status, and what becomes of what they list."""
