"""One change to a file: the members that are added, such as entries of servers, and those that are removed.

Rules kept here:
1. Everything else stays, byte for byte: comments, order, blanks, line ends.
2. The result is parsed again: it must differ from the old content by exactly this change, or nothing is written. So a
   file in an unknown style is never damaged.
3. No message repeats a value of the file, as it may be a secret.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from mcpguard.agents.config_files import Unclear, parse_file
from mcpguard.agents.editing import json_text, toml_text
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.jsonc import BOM
from mcpguard.agents.program import EVERY, ConfigFile, FileForm


@dataclass(frozen=True, slots=True)
class Edit:
    """Members by their names: those to add, at the end or in place of an old one, and those to remove."""

    put: Mapping[str, object] = field(default_factory=dict, repr=False)
    take: frozenset[str] = frozenset()


def apply_edit(data: bytes, place: ConfigFile, edit: Edit) -> bytes:
    """Return the bytes of the file after the change. Raises FileNotUnderstood."""
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
        text = words.remove_member(text, place.keys, name)
    for name, entry in edit.put.items():
        if name in edit.take or there.get(name) != entry:
            text = words.put_member(text, place.keys, name, entry)
    made = (BOM if data.startswith(BOM) else b"") + text.encode()
    if _said(made, place) != expected_content(before, place.keys, edit):
        raise FileNotUnderstood("cannot be changed safely by mcpguard; edit it by hand")
    return made


def expected_content(before: Mapping[str, Any], keys: tuple[str, ...], edit: Edit) -> dict[str, Any]:
    """Return the content that the file must have afterwards."""
    after = deepcopy(dict(before))
    at = after
    if edit.put or _servers(before, keys):
        for key in keys:
            at[key] = at[key] if isinstance(at.get(key), dict) else {}
            at = at[key]
        for name in edit.take:
            at.pop(name, None)
        at.update(deepcopy(dict(edit.put)))
    return after


def servers(data: bytes, place: ConfigFile) -> Mapping[str, Any]:
    """Return the servers in the file. Raises FileNotUnderstood."""
    return _servers(_said(data, place), place.keys)


def _servers(said: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    at: Any = said
    for key in keys:
        at = at.get(key)
        if at is None:
            return {}
        if not isinstance(at, Mapping):
            raise FileNotUnderstood("has something other than an object in place of its servers")
    return at  # type: ignore[no-any-return]  # checked above: a mapping


def _said(data: bytes, place: ConfigFile) -> Mapping[str, Any]:
    try:
        return parse_file(data, place)
    except Unclear as error:
        raise FileNotUnderstood(str(error)) from None
