"""Makes untrusted text safe to show beside mcpguard's own: nothing hidden, bounded, and never mistaken for ours.

Rules kept here:
1. Hidden characters are shown as code points, and so are characters that only look like a space. Line breaks are kept.
2. What mcpguard inserts into untrusted text is in ⟨these brackets⟩. The text's own ones are shown as code points.
3. Long text is cut in the middle, because the important part may be at its end, and the cut states how much is missing.
   A long run of one character, which could push the rest out of view, is shown once with its count.
"""

import json
import re
import unicodedata
from typing import Final

import orjson

from mcpguard.text.visible import hides

_OVER_AND_OVER: Final = re.compile(r"([^!-~\w])\1{11,}")
_SHORT: Final = 100
"""Characters of the longest JSON that stands on one line."""
_MOST_KEYS: Final = 24
"""How many keys of a path are shown."""
_LONGEST_KEY: Final = 100
_MOST_LOOKED_AT: Final = 1024 * 1024
"""Characters of two texts together; longer ones are not searched for new characters."""
_TYPOGRAPHY: Final = frozenset(map(chr, range(128))) | frozenset("–—‘’“”…•→≤≥")  # noqa: RUF001 - exactly these characters
"""Characters that ordinary text is written with."""


class _Shown(dict[int, str]):
    def __missing__(self, code: int) -> str:
        char = chr(code)
        odd = hides(char) or char == "⟨" or (char.isspace() and char != " ")
        self[code] = code_point(char) if odd and char != "\n" else char
        return self[code]


def code_point(char: str, times: int = 1) -> str:
    """Return a character as its code point in brackets, with how often it is repeated."""
    return f"⟨U+{ord(char):04X}⟩" if times == 1 else f"⟨U+{ord(char):04X}, {times} times⟩"


def escape_hidden(text: str) -> str:
    """Return the whole text with hidden characters made visible. Line breaks stay."""
    return text.translate(_Shown())


def clip(text: str, most: int) -> str:
    """Return about `most` characters of the text, from both ends, with hidden characters made visible."""
    beginning, used = _beginning(text, most)
    if used == len(text):
        return beginning
    end = text[max(used, len(text) - most // 4) :]
    return beginning + omission(len(text) - used - len(end)) + _beginning(end, len(end))[0]


def omission(characters: int) -> str:
    """Return a note that so many characters are left out; "" for none."""
    if not characters:
        return ""
    return f"⟨…, {characters} {'character' if characters == 1 else 'characters'} more⟩"


def _beginning(text: str, most: int) -> tuple[str, int]:
    """Return what is shown of the beginning, and how many characters of the text that covers."""
    shown: list[str] = []
    used = spent = 0
    for run in _OVER_AND_OVER.finditer(text, 0, 16 * most):
        if not hides(run[1]) and not run[1].isspace():
            continue
        plain = text[used : min(run.start(), used + most - spent)]
        shown.append(escape_hidden(plain))
        used, spent = used + len(plain), spent + len(plain)
        if used < run.start():
            return "".join(shown), used
        shown.append(code_point(run[1], run.end() - run.start()) + ("\n" if run[1] == "\n" else ""))
        used, spent = run.end(), spent + _LONGEST_KEY // 10
    plain = text[used : used + max(most - spent, 0)]
    return "".join([*shown, escape_hidden(plain)]), used + len(plain)


def value_as_text(value: object) -> str:
    """Return a value as text: a string in quotes as it is, anything else as JSON."""
    if isinstance(value, str):
        return f'"{value}"'
    try:
        lines = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # nested deeply, integers beyond 64 bits, lone surrogates
        return _on_one_line(value)
    short = _on_one_line(value) if len(lines) <= 3 * _SHORT else lines
    return short if len(short) <= _SHORT else lines


def _on_one_line(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…, nested too deeply to be shown"


def json_pointer(path: tuple[str | int, ...]) -> str:
    """Return the path as a JSON pointer (RFC 6901) on one line. A very long or deep one is cut."""
    keys = [_key(key) for key in path[: _MOST_KEYS // 2]]
    rest = path[_MOST_KEYS // 2 :]
    if len(rest) > _MOST_KEYS // 2:
        keys.append(f"⟨…, {len(rest) - _MOST_KEYS // 2} levels more⟩")
        rest = rest[-_MOST_KEYS // 2 :]
    return "".join("/" + key for key in [*keys, *map(_key, rest)])


def _key(key: str | int) -> str:
    text = str(key)
    shown = clip(text, _LONGEST_KEY).replace("\n", code_point("\n"))
    return shown.replace("~", "~0").replace("/", "~1")


def new_characters(before: str, after: str, most: int) -> tuple[tuple[str, ...], int]:
    """Return the unusual characters that only `after` has, deceptive ones first, and how many more there are."""
    if after.isascii() or len(before) + len(after) > _MOST_LOOKED_AT:
        return (), 0
    new = sorted(set(after).difference(before, _TYPOGRAPHY), key=lambda char: (_harmless(char), char))
    return tuple(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in new[:most]), len(new[most:])


def _harmless(char: str) -> int:
    if hides(char):
        return 0
    return {"Z": 1, "M": 2, "L": 2, "N": 2}.get(unicodedata.category(char)[0], 3)
