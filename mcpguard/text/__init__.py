"""Helpers for foreign text: hidden characters, look-alike letters, linear patterns, word lists."""
