"""The users, their sign-in, and the API tokens of programs that act for them."""
