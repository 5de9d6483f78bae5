"""The servers that the guard knows, their status, and the processing of what they list."""
