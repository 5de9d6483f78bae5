"""Server processes: what they are given at the start, what they write, and how they are ended."""
