"""What a person has to see of a definition before deciding: how it differs from what was approved."""
