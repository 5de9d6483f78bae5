"""What a request repeats in HTTP headers."""
