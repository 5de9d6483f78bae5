"""Changes single members of a program's file, and nothing else in it."""
