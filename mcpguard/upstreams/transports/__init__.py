"""The ways to reach a server: bytes out, bytes in, one message at a time, each of them bounded."""
