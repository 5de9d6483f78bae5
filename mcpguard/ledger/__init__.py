"""The audit log: every action is recorded before it happens, and the integrity of the whole log can be verified."""
