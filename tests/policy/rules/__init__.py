"""Each rule about a call, and the law that it keeps whatever else is so."""
