"""Calls: what is asked, what is decided, how they end, and what is recorded of them."""
