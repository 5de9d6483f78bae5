"""How a declared server is started, and what exactly is started."""
