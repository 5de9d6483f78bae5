"""Labelled definitions and replies, one a line, read from files or folders.

A line is `{"label": "malicious" | "benign", "class", "source", "tool" | "text", "server"?, "peers"?}`. `source` is a
repository, which `@` and a place in it may follow. A line with `snippet` instead is a passage of which a tool's or a
reply's text may consist: it is learnt from and never judged.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import orjson
import typer

from mcpguard.inspection.resemblance.word_classes import ClassedWord, texts_as_words
from mcpguard.inspection.texts.texts import Text, read_texts

MALICIOUS: Final = "malicious"
MOST_READ: Final = 24_000


@dataclass(frozen=True)
class Labelled:
    """A labelled definition, reply or snippet."""

    malicious: bool
    kind: str
    source: str
    said: Mapping[str, Any]

    @cached_property
    def words(self) -> tuple[ClassedWord, ...]:
        """The words that it is compared by."""
        if "tool" in self.said:
            return texts_as_words(read_texts(self.said["tool"]).texts)
        return texts_as_words((Text("", str(self.said.get("text", self.said.get("snippet")))[:MOST_READ]),))

    @property
    def is_definition(self) -> bool:
        return "tool" in self.said

    @property
    def is_reply(self) -> bool:
        return "text" in self.said


def read_labelled(places: Iterable[Path]) -> Iterator[Labelled]:
    """Yield what the files have, and those in the folders; each text once."""
    seen = set[bytes]()
    for place in places:
        for file in sorted(place.rglob("*.jsonl")) if place.is_dir() else [place]:
            others = 0
            for line in file.read_bytes().splitlines():
                read = orjson.loads(line) if line.strip() else {}
                one = _labelled(read)
                others += one is None and bool(read)
                if one is not None and (key := _key(one)) not in seen:
                    seen.add(key)
                    yield one
            if others:
                typer.echo(f"{file}: {others} lines have no text with a label, and are left out", err=True)


def _labelled(read: object) -> Labelled | None:
    if not isinstance(read, dict) or not isinstance(read.get("label"), str):
        return None
    if not (isinstance(read.get("tool"), dict) or isinstance(read.get("text"), str) or "snippet" in read):
        return None
    source = str(read.get("source", "")).partition("@")[0]
    return Labelled(read["label"] == MALICIOUS, str(read.get("class", "")), source, read)


def _key(one: Labelled) -> bytes:
    said = one.said.get("tool", one.said.get("text", one.said.get("snippet")))
    return orjson.dumps((one.malicious, said), option=orjson.OPT_SORT_KEYS)
