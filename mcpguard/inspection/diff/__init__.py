"""What has changed in a definition, so that a person sees it."""
