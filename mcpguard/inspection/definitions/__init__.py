"""What is found in what servers list, and in how they are launched."""
