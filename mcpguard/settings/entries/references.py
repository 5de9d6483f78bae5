"""Secret references: `${env:NAME}` and `${file:/path}` in values of environment and headers, files also in arguments.

Rules kept here:
1. A template is read strictly: whatever begins with `${` is one of the two references or is refused. The forms of
   other programs are refused in words that say what to write instead; none is guessed at.
2. References are resolved when a server is launched, never earlier, and only once: what comes out is not read again.
3. A file is read only if it is, after all symbolic links, a regular file below a folder that was named for it.
4. No error repeats a value, nor any part of a template that is not a reference.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from mcpguard.domain.errors import NotStarted
from mcpguard.text.visible import visible

LARGEST_SECRET: Final = 64 * 1024
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_OPEN: Final = "${"
_DEFAULT: Final = re.compile(rf"({VARIABLE.pattern})?:?[-+=?].*", re.DOTALL)
_EDITORS: Final = re.compile(
    r"(workspace(Folder|Root|FolderBasename)(:.*)?|userHome|execPath|pathSeparator|/|cwd|file\w+|relativeFile\w*)",
    re.DOTALL,
)
_BEYOND: Final = "is below no folder of the setting upstreams.secret_folders, nor among the secrets of this server"
_ASKED: Final = frozenset({"input", "command", "config", "promptString"})


class ReferenceKind(StrEnum):
    """Where a reference leads."""

    ENV = "env"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference: the variable or the file that holds the value."""

    kind: ReferenceKind
    name: str


class BadTemplate(ValueError):
    """A template cannot be read. The sentence follows the name of its place and repeats nothing of it."""


class Unresolved(NotStarted):
    """A reference leads to nothing that can be used, so the server is not launched."""


def parts(template: str) -> tuple[str | Reference, ...]:
    """The template in order: text that stands for itself, never empty, and references. Raises BadTemplate."""
    found: list[str | Reference] = []
    literal, *rest = template.split(_OPEN)
    for each in rest:
        inside, closed, after = each.partition("}")
        if not closed:
            raise BadTemplate(
                'holds "${" without "}"; where the value itself has these characters, '
                "keep it in a file and write ${file:/path}"
            )
        found += [literal, _reference(inside)]
        literal = after
    return tuple(part for part in (*found, literal) if part != "")


def literals(template: str) -> tuple[str, ...]:
    """What of the template stands for itself, and so may be a secret that was written out."""
    return tuple(part for part in parts(template) if isinstance(part, str))


def referenced(template: str) -> tuple[Reference, ...]:
    return tuple(part for part in parts(template) if isinstance(part, Reference))


def bare(template: str, instead: str) -> str:
    """The template with this in the place of each reference."""
    return "".join(part if isinstance(part, str) else instead for part in parts(template))


def shown(template: str) -> str:
    """The template if nothing in it can be a secret, else only that there is one."""
    try:
        return template if template and not literals(template) else "(set)"
    except BadTemplate:
        return "(set)"


def unreferenced(text: str) -> str | None:
    """What is wrong with a reference where none may stand; None if there is none. Repeats nothing of the text."""
    if _OPEN not in text:
        return None
    inside = text.partition(_OPEN)[2].partition("}")[0]
    hint = "; mcpguard has no workspace" if _EDITORS.fullmatch(inside) else ""
    where = "values of env and headers, and ${file:/path} in args"
    return f"must be written out, without ${{…}}{hint}; references stand in {where}"


def unfit_template(text: str) -> str | None:
    """What is wrong with a text in which only files may be referred to; None if it is fit. Repeats nothing of it."""
    try:
        found = referenced(text)
    except BadTemplate as error:
        return str(error)
    if any(each.kind is not ReferenceKind.FILE for each in found):
        return "may refer to files only: write ${file:/path}"
    return None


@dataclass(frozen=True, slots=True, repr=False)
class Value:
    """What a template is at one moment, and what its references led to."""

    whole: str
    referenced: tuple[str, ...] = ()


def resolve(template: str, environ: Mapping[str, str], folders: Iterable[Path]) -> str:
    """The value at this moment. Raises Unresolved. A header's value has to be checked afterwards."""
    return resolved(template, environ, folders).whole


def resolved(template: str, environ: Mapping[str, str], folders: Iterable[Path]) -> Value:
    """The same, with what its references led to."""
    try:
        found = parts(template)
    except BadTemplate as error:
        raise Unresolved(f"a value {error}") from None
    allowed = tuple(folders)
    every = [(part, part if isinstance(part, str) else _value(part, environ, allowed)) for part in found]
    referenced = tuple(value for part, value in every if not isinstance(part, str))
    return Value("".join(value for _, value in every), referenced)


def _reference(inside: str) -> Reference:
    word, colon, name = inside.partition(":")
    match word:
        case "env" if colon:
            if not VARIABLE.fullmatch(name):
                raise BadTemplate("must name a variable of the environment in ${env:NAME}, and nothing else")
            return Reference(ReferenceKind.ENV, name)
        case "file" if colon:
            if not name.startswith("/") or not name.isprintable():
                raise BadTemplate("must name a file by its whole path in ${file:/path}")
            return Reference(ReferenceKind.FILE, name)
        case _:
            raise BadTemplate(_instead(inside, word))


def _instead(inside: str, word: str) -> str:
    if word == "keyring":
        return "cannot be taken from a keyring yet; write ${env:NAME} or ${file:/path}"
    if word in _ASKED:
        return "cannot be asked for; put it where mcpguard starts and write ${env:NAME}, or write ${file:/path}"
    if _EDITORS.fullmatch(inside):
        return "must be written out, as mcpguard has no workspace and no editor"
    if VARIABLE.fullmatch(inside):
        return "must be ${env:NAME} instead of ${NAME}"
    if _DEFAULT.fullmatch(inside):
        return "must be ${env:NAME}, without a default; give the variable where mcpguard starts"
    return 'holds "${" that begins no reference; there are ${env:NAME} and ${file:/path}'


def _value(reference: Reference, environ: Mapping[str, str], folders: tuple[Path, ...]) -> str:
    if reference.kind is ReferenceKind.FILE:
        return _content(reference.name, folders)
    value = environ.get(reference.name)
    if not value:
        state = "not set" if value is None else "empty"
        raise Unresolved(f"{reference.name} is {state} in the environment of mcpguard")
    return value


def _content(name: str, folders: tuple[Path, ...]) -> str:
    told = visible(name[:200])
    try:
        path = Path(name).resolve()
        if not any(folder.is_absolute() and path.is_relative_to(folder.resolve()) for folder in folders):
            raise Unresolved(f"{told} {_BEYOND}")
        data = _regular(path, told)
        text = data.decode()
    except UnicodeDecodeError:
        raise Unresolved(f"{told} is not UTF-8 text") from None
    except OSError as error:
        raise Unresolved(f"{told} cannot be read: {error.strerror}") from None
    except (RuntimeError, ValueError):  # a loop of symbolic links, or no path at all
        raise Unresolved(f"{told} cannot be read") from None
    value = text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
    if not value or "\0" in value:
        raise Unresolved(f"{told} is empty" if not value else f"{told} holds a NUL character")
    return value


def _regular(path: Path, told: str) -> bytes:
    """The path has no symbolic links any more; if its end has become one since, it is not followed."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unresolved(f"{told} is not a regular file")
        data = file.read(LARGEST_SECRET + 1)
    if len(data) > LARGEST_SECRET:
        raise Unresolved(f"{told} is larger than {LARGEST_SECRET} bytes")
    return data
