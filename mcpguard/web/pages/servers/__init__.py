"""Pages about servers, their capabilities, and what was found in them."""
