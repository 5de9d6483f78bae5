"""Searches tools by what they do, and fits the matches into one answer."""
