"""Parses word lists in data files: sections of words that people can edit.

The format:

    # A comment, to the end of the line.
    NAME OF A SECTION:
        words that are separated by blanks
        over as many lines as they need
"""


def read_sections(text: str) -> dict[str, str]:
    """Return the words of each section, parted by single blanks. Raises ValueError for a line that is in none."""
    sections: dict[str, list[str]] = {}
    words: list[str] | None = None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if words is None:
                raise ValueError(f"words before the first section: {line.strip()!r}")
            words += line.split()
        elif line.endswith(":") and line[:-1] not in sections:
            words = sections[line[:-1]] = []
        else:
            raise ValueError(f"neither words nor the name of a new section: {line!r}")
    return {name: " ".join(words) for name, words in sections.items()}
