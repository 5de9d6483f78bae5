"""The shapes in which agents see capabilities: names and URIs on the way out, and their meaning on the way in."""
