"""One change of a file: members that are put among its servers, and members that are taken away.

Rules kept here:
1. Everything else stays, byte for byte: comments, order, blanks, ends of lines.
2. What was made is read again: it must say what the file said before with exactly that change, or nothing is made. So
   a file that is not understood is not rewritten, however it is written.
3. No sentence repeats a value of the file.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from mcpguard.agents.editing import json_text, toml_text
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.jsonc import BOM
from mcpguard.agents.program import EVERY, ConfigFile, Entry, FileForm
from mcpguard.agents.reading import Unclear, whole


@dataclass(frozen=True, slots=True)
class Edit:
    """Members by their names: those that are to be there, at the end or in the place of one, and those that go."""

    put: Mapping[str, Entry] = field(default_factory=dict, repr=False)
    take: frozenset[str] = frozenset()


def edited(data: bytes, place: ConfigFile, edit: Edit) -> bytes:
    """The bytes of the file after the change. Raises FileNotUnderstood."""
    if EVERY in place.keys:
        raise FileNotUnderstood("has servers in several places")
    before = _said(data, place)
    try:
        text = data.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        raise FileNotUnderstood("is not UTF-8 text") from None
    words = toml_text if place.form is FileForm.TOML else json_text
    there = _servers(before, place.keys)
    for name in sorted(edit.take & there.keys()):
        text = words.without(text, place.keys, name)
    for name, entry in edit.put.items():
        if name in edit.take or there.get(name) != entry:
            text = words.having(text, place.keys, name, entry)
    made = (BOM if data.startswith(BOM) else b"") + text.encode()
    if _said(made, place) != expected(before, place.keys, edit):
        raise FileNotUnderstood("is written in a way that mcpguard cannot change safely")
    return made


def expected(before: Mapping[str, Any], keys: tuple[str, ...], edit: Edit) -> dict[str, Any]:
    """What the file is to say afterwards."""
    after = deepcopy(dict(before))
    at = after
    if edit.put or _servers(before, keys):
        for key in keys:
            at[key] = at[key] if isinstance(at.get(key), dict) else {}
            at = at[key]
        for name in edit.take:
            at.pop(name, None)
        at.update({name: dict(entry) for name, entry in edit.put.items()})
    return after


def servers(data: bytes, place: ConfigFile) -> Mapping[str, Any]:
    """What stands at the place. Raises FileNotUnderstood."""
    return _servers(_said(data, place), place.keys)


def _servers(said: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    at: Any = said
    for key in keys:
        at = at.get(key)
        if at is None:
            return {}
        if not isinstance(at, Mapping):
            raise FileNotUnderstood("has something else than an object where its servers would be")
    return at  # type: ignore[no-any-return]  # a mapping, as was looked


def _said(data: bytes, place: ConfigFile) -> Mapping[str, Any]:
    try:
        return whole(data, place)
    except Unclear as error:
        raise FileNotUnderstood(str(error)) from None
