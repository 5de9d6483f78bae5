"""The replies that the detectors of replies are measured on: what was written to deceive, and what is ordinary.

Each case stands in a file in `replies_data` below a line `=== kind`. Characters that nobody sees are put in here, so
that the files can be read. By a digest of its text a case is in one half or the other: detectors are written with a
view of the first, and judged by the second.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpguard.inspection.detectors.detector import Surroundings

FOLDER: Final = Path(__file__).parent / "replies_data"
AROUND: Final = Surroundings(
    "shop",
    frozenset({"search"}),
    {
        "mail": frozenset({"send_email", "list_contacts"}),
        "github": frozenset({"create_issue", "list_issues", "search_issues", "delete_repository"}),
        "files": frozenset({"read_file", "write_file", "delete_file", "list_directory"}),
        "bank": frozenset({"transfer_money"}),
        "shell": frozenset({"run_shell"}),
        "db": frozenset({"delete_rows"}),
    },
)
_HEAD: Final = re.compile(r"^=== ([a-z0-9 ]+)\n", re.MULTILINE)
_TAGS, _ZERO_WIDTH = "TAGS:", "ZEROWIDTH:"


@dataclass(frozen=True, slots=True)
class Case:
    """One reply."""

    kind: str
    text: str
    hostile: bool

    @property
    def unseen(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 1


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.txt")):
        _, *parts = _HEAD.split(path.read_text(encoding="utf-8"))
        for kind, text in zip(parts[::2], parts[1::2], strict=True):
            yield Case(kind, _hidden(text.rstrip("\n")), path.stem.startswith("hostile"))


def _hidden(text: str) -> str:
    text = text.replace("\N{SYMBOL FOR ESCAPE}", "\x1b")
    said, _, order = text.partition("|")
    if text.startswith(_TAGS):
        return said.removeprefix(_TAGS) + "".join(chr(0xE0000 + ord(char)) for char in order)
    if text.startswith(_ZERO_WIDTH):
        return said.removeprefix(_ZERO_WIDTH) + " " + "\u200b".join(order)
    return text
