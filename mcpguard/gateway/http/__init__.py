"""The agents' door on the network: streamable HTTP, in both eras."""
