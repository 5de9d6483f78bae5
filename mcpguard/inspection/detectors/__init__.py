"""One detector a file: each looks at a definition that was read, and at its surroundings, for one kind of behaviour."""
