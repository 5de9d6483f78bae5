"""Scripts: how people write them down, and how agents run the approved ones."""
