"""Commands, as a person or a script runs them."""
