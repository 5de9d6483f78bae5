"""The servers behind the guard: starting them, speaking to them, ending them. Nothing here decides what is allowed."""
