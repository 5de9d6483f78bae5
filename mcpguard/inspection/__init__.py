"""Finds attacks in what servers offer and answer, and shows how a definition differs from the approved one."""
