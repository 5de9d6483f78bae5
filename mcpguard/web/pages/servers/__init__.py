"""Pages about servers, their capabilities, and findings."""
