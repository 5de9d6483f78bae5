"""The door for agents on the network: streamable HTTP, in both eras of the protocol."""
