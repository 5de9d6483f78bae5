"""The door for agents on this host: messages on a stream, one per line, in both eras."""
