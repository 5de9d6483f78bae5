"""What is found in what servers say when they are called."""
