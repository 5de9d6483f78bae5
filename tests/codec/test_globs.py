"""Name patterns mean what they look like, and never more; matching them never takes long."""

import itertools
from fnmatch import fnmatchcase

import pytest

from mcpguard.codec.globs import LONGEST, check_pattern, covers, matcher, split
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName

NAMES = ["".join(each) for length in range(5) for each in itertools.product("ab", repeat=length)]
PATTERNS = ["".join(each) for length in range(5) for each in itertools.product("a*?", repeat=length)]


def test_stars_and_question_marks_mean_what_they_mean_elsewhere() -> None:
    for pattern, name in itertools.product(PATTERNS, NAMES):
        assert bool(matcher(pattern)(name)) == fnmatchcase(name, pattern), (pattern, name)


def test_everything_else_is_itself() -> None:
    for text in ("a.c", "a+", "(a|b)", "^a$", "\\d", "{a}", "a\nb", "é", "note://a/b%20c"):
        assert matcher(text)(text)
        assert not matcher(text)("abc")
        assert not matcher(text)(text + "x")
    assert matcher("*")("two\nlines")
    assert matcher("a?c")("a\nc")


def test_what_one_covers_is_all_its_own() -> None:
    of = {pattern: {name for name in NAMES if matcher(pattern)(name)} for pattern in PATTERNS}
    for one, other in itertools.product(PATTERNS, PATTERNS):
        if covers(one, other):
            assert of[other] <= of[one], (one, other)


@pytest.mark.parametrize(
    ("one", "other", "whether"),
    [
        ("*", "anything*at?all", True),
        ("a*", "ab*", True),
        ("a*", "*a", False),
        ("a?", "a*", False),
        ("a?", "a?", True),
        ("*", "tool:x", True),
        ("tool:*", "tool:x", True),
        ("tool:*", "prompt:x", False),
        ("tool:*", "*", False),
        ("re*", "resource:x", False),
        ("resource:*", "re*", False),
    ],
)
def test_covering(one: str, other: str, whether: bool) -> None:
    assert covers(one, other) is whether


def test_a_kind_before_a_pattern_keeps_it_to_that_kind() -> None:
    assert split("tool:read_*") == (CapabilityKind.TOOL, "read_*")
    assert split("resource:file:///srv/*") == (CapabilityKind.RESOURCE, "file:///srv/*")
    assert split("tool:tool:x") == (CapabilityKind.TOOL, "tool:x")
    assert split("file:///srv/*") == (None, "file:///srv/*")
    assert split("tools:x") == (None, "tools:x")


@pytest.mark.parametrize("wrong", ["", " zq", "zq ", "zq\tb", "zq\x00", "\u202ezq", "[zq]", "zq]", "zq" * LONGEST])
def test_what_has_not_the_form_of_one_is_refused_and_not_repeated(wrong: str) -> None:
    with pytest.raises(InvalidName) as refused:
        check_pattern(wrong)
    assert "zq" not in str(refused.value)


@pytest.mark.parametrize(
    "pattern", ["*a" * 90 + "b", "*" * LONGEST + "b", "?*" * 90 + "b", f"*{'a' * 90}b*{'a' * 90}b"]
)
def test_a_long_name_that_almost_fits_ends_at_once(pattern: str) -> None:
    """Tried in every way, this would go on for ever."""
    assert not matcher(pattern)("a" * 8192)
