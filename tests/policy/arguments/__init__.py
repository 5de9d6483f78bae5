"""What arguments must be, and what a schema may cost."""
