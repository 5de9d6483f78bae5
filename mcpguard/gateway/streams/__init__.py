"""The agents' door on this machine: messages on a stream, a line each, in both eras."""
