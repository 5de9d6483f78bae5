"""What a person sees of a definition before deciding."""
