"""What happens, told from outside."""
