"""Cuts out the part of a server's text that a finding points to, for display to a person.

An excerpt is short and on one line; nothing in it is hidden or passes for text of mcpguard (`clipping`). The finding is
between ⟨»⟩ and ⟨«⟩ unless it is the whole text. If the place is unknown (a truncated path, say), there is no excerpt.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from mcpguard.domain.findings import Evidence
from mcpguard.inspection.diff.clipping import clip, code_point, escape_hidden

_AROUND: Final = 60
_MOST: Final = 200
_NAME: Final = "key:"
_CUT: Final = "…"


def cut_excerpt(definition: object, evidence: Evidence) -> str:
    """Return the excerpt for a finding; "" where its place is not known."""
    text = text_at(definition, evidence.path)
    if text is None or not 0 <= evidence.start <= evidence.end <= len(text):
        return ""
    start, end = evidence.start, evidence.end
    before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    if start == 0 and end == len(text):  # the finding is the whole text, so no marks are needed
        return clip(text, _MOST).replace("\n", code_point("\n"))
    head, tail = _CUT if start > _AROUND else "", _CUT if end + _AROUND < len(text) else ""
    marked_text = f"{head}{escape_hidden(before)}⟨»⟩{clip(text[start:end], _MOST)}⟨«⟩{escape_hidden(after)}{tail}"
    return marked_text.replace("\n", code_point("\n"))


def text_at(definition: object, path: str) -> str | None:
    """Return the string at this path, or the name of a member there; None if there is neither."""
    if path.endswith(_CUT) or "/" not in path:
        return None
    names = [part.replace("~1", "/").replace("~0", "~") for part in path.removeprefix(_NAME).split("/")[1:]]
    value = definition
    for at, name in enumerate(names):
        if isinstance(value, Mapping) and name in value:
            if path.startswith(_NAME) and at == len(names) - 1:
                return name
            value = value[name]
        elif isinstance(value, Sequence) and not isinstance(value, str) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value if isinstance(value, str) else None
