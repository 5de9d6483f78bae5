"""The transports to servers: they send and receive bytes, one bounded message at a time."""
