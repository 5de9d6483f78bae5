"""Word lists are read as they are written, and a slip in one is refused instead of losing words."""

import pytest

from mcpguard.text.word_lists import read_sections


def test_sections_have_their_words_however_the_lines_are_broken() -> None:
    text = "# a comment\nONE TWO:\n    a_word verb+ stem*\n    # no comment\n\nTHREE:\nFOUR:\n    ünïcode\n"
    assert read_sections(text) == {"ONE TWO": "a_word verb+ stem* # no comment", "THREE": "", "FOUR": "ünïcode"}


@pytest.mark.parametrize("text", ["    words\nONE:\n", "ONE:\n    a\nONE:\n    b\n", "ONE:\nwords\n"])
def test_words_without_a_section_and_sections_that_come_twice_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="section"):
        read_sections(text)
