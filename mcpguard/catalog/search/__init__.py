"""Finding tools by what an agent says that it wants to do."""
