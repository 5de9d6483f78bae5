"""What stands before every page and every route: who somebody is, what they may, and what is refused."""
