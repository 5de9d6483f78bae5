"""How fast the guard records, verifies and carries calls. `make bench`; nothing here is a test."""
