"""The console's pages, one file each."""
