"""Detects attacks in what servers list and reply, and shows how a definition differs from the approved one."""
