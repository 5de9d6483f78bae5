"""The shapes in which agents see what is offered: names and URIs on the way out, and what they mean on the way in."""
