"""How fast the guard records and verifies. `make bench`; nothing here is a test."""
