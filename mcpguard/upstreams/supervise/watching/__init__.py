"""The resources of a server that clients want to hear of, and keeping the server told of which those are."""
