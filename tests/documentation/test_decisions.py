"""Decisions are numbered and titled in one way, and a number that is missing is explained."""

import re

from tests.documents import DOCS

FILES = sorted((DOCS / "decisions").glob("0*.md"))


def test_a_decision_is_titled_with_its_number() -> None:
    for path in FILES:
        title = path.read_text().partition("\n")[0]
        assert re.fullmatch(rf"# {path.name[:4]}\. [A-Z].*[^.]", title), title


def test_a_missing_number_is_explained() -> None:
    index = (DOCS / "decisions" / "README.md").read_text()
    numbers = {int(path.name[:4]) for path in FILES}
    assert [
        number for number in range(1, max(numbers)) if number not in numbers and f"no {number:04}" not in index
    ] == []
