"""Finding tools by what they do, and telling what was found."""
