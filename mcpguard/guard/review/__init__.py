"""What people decide about servers and their capabilities, and what they look at before they do."""
