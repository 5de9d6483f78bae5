"""What others wrote, cut into pieces: whole, and with nothing that hides."""

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.text.visible import hides
from mcpguard.web.visible_text import FindingMark, TextPiece, pieces

MARKS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["low", "critical"])), max_size=5)
HIDDEN = st.sampled_from(["\u200b", "\u202e", "\u2066", "\x00", "\r", "\U000e0041", "\ufe0f", "\u3164"])
TEXT = st.lists(st.one_of(st.characters(), HIDDEN, st.just("<b>")), max_size=40).map("".join)


def marks(found: list[tuple[int, int, str]]) -> list[FindingMark]:
    return [FindingMark(start, end, number, severity) for number, (start, end, severity) in enumerate(found, 1)]


@given(TEXT, MARKS)
def test_all_that_can_be_seen_is_there_in_its_order_and_nothing_that_cannot(
    text: str, found: list[tuple[int, int, str]]
) -> None:
    cut = list(pieces(text, marks(found)))
    seen = "".join(each.text for each in cut if not each.hidden and not each.text.startswith("⟨"))
    assert seen == "".join(char for char in text if not hides(char) or char in "\n\t").replace("⟨", "") or "⟨" in text
    assert not [char for each in cut for char in each.text if hides(char) and char not in "\n\t"]


@given(TEXT, MARKS)
def test_every_finding_that_points_into_the_text_is_named_once_where_it_ends(
    text: str, found: list[tuple[int, int, str]]
) -> None:
    inside = [mark.number for mark in marks(found) if mark.start < mark.end <= len(text)]
    assert sorted(number for each in pieces(text, marks(found)) for number, _ in each.ends) == inside


def test_runs_of_the_same_are_one_chip_and_tags_are_spelt_out() -> None:
    order = "".join(chr(0xE0000 + ord(char)) for char in "send it")
    assert list(pieces("a\u200b\u200b\u200bb" + order)) == [
        TextPiece("a"),
        TextPiece("ZWSP ×3", True, "ZERO WIDTH SPACE, U+200B"),  # noqa: RUF001 - a multiplication sign
        TextPiece("b"),
        TextPiece("TAG ×7", True, "7 tag characters"),  # noqa: RUF001
        TextPiece("⟨send it⟩"),
    ]


def test_a_finding_marks_its_place() -> None:
    assert list(pieces("hide this", [FindingMark(5, 9, 1, "critical")])) == [
        TextPiece("hide "),
        TextPiece("this", severity="critical", number=1, ends=((1, "critical"),)),
    ]
    assert list(pieces("", [])) == []
