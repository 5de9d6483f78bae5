"""Opens, reads, writes and upgrades the databases."""
