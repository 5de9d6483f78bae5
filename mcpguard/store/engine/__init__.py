"""The databases: how they are opened, read and written, and brought to their schema."""
