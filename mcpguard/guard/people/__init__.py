"""The people who decide, how they sign in, and the programs that act for them."""
