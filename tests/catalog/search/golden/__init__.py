"""Our own tools and our own ways to ask for them."""
