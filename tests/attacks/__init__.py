"""One attack a file, each ending with: and nothing happened."""
