"""What `mcpguard doctor` looks at: one small file for each subject, all of them in the tuple of `checks`."""
