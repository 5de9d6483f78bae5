"""The documentation of this version, as pages of the console."""
