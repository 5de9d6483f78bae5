"""`mcpguard service`: the guard as a service of one user, which the operating system starts."""
