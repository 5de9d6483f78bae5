"""The texts of a definition or a reply, with what stands in them."""
