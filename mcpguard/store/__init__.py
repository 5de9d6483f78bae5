"""The only SQL. One thread owns the one writing connection; readers cannot write; rows never leave this package."""
