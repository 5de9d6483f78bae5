"""What several commands use: options, output, and the client of the guard."""
