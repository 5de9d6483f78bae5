"""The shape of the code, and documents that must agree with it."""
