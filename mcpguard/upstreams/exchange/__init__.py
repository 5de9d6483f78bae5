"""Messages to and from one server: who asked what, and who is answered."""
