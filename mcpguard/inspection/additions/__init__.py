"""Judges what a changed definition adds to the approved one."""
