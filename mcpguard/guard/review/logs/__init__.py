"""What servers write beside the protocol, for whoever reviews or operates them."""
