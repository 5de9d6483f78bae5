"""Translates the `${…}` variables of programs into the guard's references, or replaces them by their values.

Rules kept here:
1. In values of `env` and `headers`, an environment variable becomes `${env:NAME}`, and an input stays `${input:id}`.
   Elsewhere mcpguard supports no references, so any variable but a known folder is refused.
2. An imported file never chooses which files are read: `${file:…}` is refused, whoever wrote it.
3. A program passes on an unknown variable literally. mcpguard cannot express that, so it is refused.
4. A default is used if the variable is unset or empty now; otherwise the variable is.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from mcpguard.agents.program import Entry, EntryOrigin, Untaken
from mcpguard.settings.entries.entry import member_place
from mcpguard.settings.entries.references import VARIABLE

_FORM: Final = re.compile(r"\$\{([^{}]*)\}")
_OPEN: Final = "${"
INPUT: Final = re.compile(r"\$\{input:([A-Za-z0-9_.-]{1,64})\}")
_TEMPLATES: Final = ("env", "headers")
_TEXTS: Final = ("command", "url", "cwd")

Dialect = Callable[[str, EntryOrigin], str | None]
"""Translates the inside of `${…}`: into a reference of the guard, a text, or None if the program does not know it."""


def shell(inside: str, around: EntryOrigin) -> str | None:
    """Translate `${NAME}` and `${NAME:-default}`."""
    name, dash, default = inside.partition(":-")
    if not VARIABLE.fullmatch(name):
        return None
    if dash and not around.home.environment.get(name):
        return default
    return f"${{env:{name}}}"


def editor(inside: str, around: EntryOrigin) -> str | None:
    """Translate `${env:NAME}`, and the folders that an editor knows."""
    word, colon, name = inside.partition(":")
    if word == "env" and colon and VARIABLE.fullmatch(name):
        return f"${{env:{name}}}"
    match inside:
        case "userHome":
            return str(around.home.folder)
        case "pathSeparator" | "/":
            return "\\" if around.home.platform == "win32" else "/"
        case "workspaceFolder" if around.folder is not None:
            return str(around.folder)
        case "workspaceFolderBasename" if around.folder is not None:
            return around.folder.name
        case _:
            return None


def asking(inside: str, around: EntryOrigin) -> str | None:
    """Translate an editor's variables, and `${input:id}`, for which the editor asks the user."""
    return f"${{{inside}}}" if INPUT.fullmatch(f"${{{inside}}}") else editor(inside, around)


def no_variables(_inside: str, _around: EntryOrigin) -> str | None:
    """Translate nothing, for a program without variables."""
    return None


def translate_variables(entry: Entry, dialect: Dialect, around: EntryOrigin) -> dict[str, object]:
    """Return the entry with its variables translated. Values that are no text are left for the next check."""
    made = dict(entry)
    for key in _TEMPLATES:
        if isinstance(members := made.get(key), Mapping):
            made[key] = {
                name: _template(member_place(key, str(name)), value, dialect, around) for name, value in members.items()
            }
    for key in _TEXTS:
        if key in made:
            made[key] = _plain(key, made[key], dialect, around)
    for key in ("args", "command"):
        if isinstance(words := made.get(key), list):
            made[key] = [_plain(f"{key}[{number}]", word, dialect, around) for number, word in enumerate(words)]
    return made


def _template(place: str, value: object, dialect: Dialect, around: EntryOrigin) -> object:
    if isinstance(value, bool):
        raise Untaken(f"has {place}, which must be text")
    if isinstance(value, int | float):
        return str(value)  # programs accept numbers as text here
    if not isinstance(value, str) or _OPEN not in value:
        return value
    pieces: list[str] = []
    at = 0
    for found in _FORM.finditer(value):
        pieces += _literal(place, value[at : found.start()]), _meant(place, found[1], dialect, around)
        at = found.end()
    return "".join((*pieces, _literal(place, value[at:])))


def _plain(place: str, value: object, dialect: Dialect, around: EntryOrigin) -> object:
    """Translate a value in which no reference is allowed. Raises Untaken."""
    if not isinstance(value, str) or _OPEN not in value:
        return value
    made = _template(place, value, dialect, around)
    home = str(around.home.folder)
    plain = str(made).replace("${env:HOME}", home).replace("${env:USERPROFILE}", home)
    if _OPEN in plain:
        raise Untaken(
            f"has a variable in {place}, but mcpguard supports variables only in env and headers; "
            "write the value, or pass it in env"
        )
    return plain


def _literal(place: str, text: str) -> str:
    if _OPEN in text:
        raise Untaken(f"has a {_OPEN} in {place} that is not a variable")
    return text


def _meant(place: str, inside: str, dialect: Dialect, around: EntryOrigin) -> str:
    if inside.partition(":")[0] == "file":
        raise Untaken(f"names a file in {place}, but an imported entry must not choose which files are read")
    meant = dialect(inside, around)
    if meant is None:
        raise Untaken(f"has a variable in {place} that only its own program can resolve")
    if meant.startswith(_OPEN):
        return meant
    return _literal(place, meant)
