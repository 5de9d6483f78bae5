"""Secret references: `${env:NAME}` and `${file:/path}` in the environment and headers, files also in arguments.

Rules kept here:
1. A template is read strictly: anything that begins with `${` is one of the two references, or is refused. For the
   syntax of other programs, the message says what to write instead; the meaning is not guessed.
2. References are resolved when a server is launched, never earlier, and only once: the result is not resolved again.
3. A file is read only if it is, after following all symbolic links, a regular file below an allowed folder.
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
_BEYOND: Final = (
    "is neither below a folder in the setting upstreams.secret_folders nor among the secrets of this server"
)
_ASKED: Final = frozenset({"input", "command", "config", "promptString"})


class ReferenceKind(StrEnum):
    """The kinds of reference."""

    ENV = "env"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference: the variable or the file with the value."""

    kind: ReferenceKind
    name: str


class BadTemplate(ValueError):
    """A template is malformed. The message follows the name of its place and repeats nothing of it."""


class UnresolvedReference(NotStarted):
    """A reference could not be resolved, so the server is not launched."""


def parts(template: str) -> tuple[str | Reference, ...]:
    """Return the parts of a template in order: literal text, never empty, and references. Raises BadTemplate."""
    found: list[str | Reference] = []
    literal, *rest = template.split(_OPEN)
    for each in rest:
        inside, closed, after = each.partition("}")
        if not closed:
            raise BadTemplate(
                'contains "${" without "}"; if the value itself has these characters, '
                "put it into a file and write ${file:/path}"
            )
        found += [literal, _reference(inside)]
        literal = after
    return tuple(part for part in (*found, literal) if part != "")


def literals(template: str) -> tuple[str, ...]:
    """Return the literal parts of a template, which may be secrets that were written out. Raises BadTemplate."""
    return tuple(part for part in parts(template) if isinstance(part, str))


def references_in(template: str) -> tuple[Reference, ...]:
    """Return the references of a template. Raises BadTemplate."""
    return tuple(part for part in parts(template) if isinstance(part, Reference))


def replace_references(template: str, instead: str) -> str:
    """Return the template with `instead` for each reference. Raises BadTemplate."""
    return "".join(part if isinstance(part, str) else instead for part in parts(template))


def shown_template(template: str) -> str:
    """Return the template for display, `(set)` if it has a literal part, which may be a secret."""
    try:
        return template if template and not literals(template) else "(set)"
    except BadTemplate:
        return "(set)"


def misplaced_reference(text: str) -> str | None:
    """Return what is wrong with a text that may have no references; None if it has none. Repeats nothing of it."""
    if _OPEN not in text:
        return None
    inside = text.partition(_OPEN)[2].partition("}")[0]
    hint = "; mcpguard has no workspace" if _EDITORS.fullmatch(inside) else ""
    where = "values of env and headers, and ${file:/path} in args"
    return f"must be written out, without ${{…}}{hint}; references are allowed in {where}"


def unfit_template(text: str) -> str | None:
    """Return what is wrong with a text that may refer to files only; None if it is valid. Repeats nothing of it."""
    try:
        found = references_in(text)
    except BadTemplate as error:
        return str(error)
    if any(each.kind is not ReferenceKind.FILE for each in found):
        return "may only refer to files: write ${file:/path}"
    return None


@dataclass(frozen=True, slots=True, repr=False)
class ResolvedValue:
    """The resolved value of a template, and the values of its references."""

    whole: str
    referenced: tuple[str, ...] = ()


def resolve(template: str, environ: Mapping[str, str], folders: Iterable[Path]) -> str:
    """Return the current value. Raises UnresolvedReference. The value of a header has to be checked afterwards."""
    return resolve_parts(template, environ, folders).whole


def resolve_parts(template: str, environ: Mapping[str, str], folders: Iterable[Path]) -> ResolvedValue:
    """Return the current value with the values of its references. Raises UnresolvedReference."""
    try:
        found = parts(template)
    except BadTemplate as error:
        raise UnresolvedReference(f"a value {error}") from None
    allowed = tuple(folders)
    every = [(part, part if isinstance(part, str) else _value(part, environ, allowed)) for part in found]
    referenced = tuple(value for part, value in every if not isinstance(part, str))
    return ResolvedValue("".join(value for _, value in every), referenced)


def _reference(inside: str) -> Reference:
    word, colon, name = inside.partition(":")
    match word:
        case "env" if colon:
            if not VARIABLE.fullmatch(name):
                raise BadTemplate("must name an environment variable in ${env:NAME}, and nothing else")
            return Reference(ReferenceKind.ENV, name)
        case "file" if colon:
            if not name.startswith("/") or not name.isprintable():
                raise BadTemplate("must name a file by its absolute path in ${file:/path}")
            return Reference(ReferenceKind.FILE, name)
        case _:
            raise BadTemplate(_instead(inside, word))


def _instead(inside: str, word: str) -> str:
    if word == "keyring":
        return "cannot be taken from a keyring yet; write ${env:NAME} or ${file:/path}"
    if word in _ASKED:
        return "cannot be prompted for; set it where mcpguard is started and write ${env:NAME}, or write ${file:/path}"
    if _EDITORS.fullmatch(inside):
        return "must be written out: mcpguard has no workspace and no editor"
    if VARIABLE.fullmatch(inside):
        return "must be ${env:NAME} instead of ${NAME}"
    if _DEFAULT.fullmatch(inside):
        return "must be ${env:NAME}, without a default; set the variable where mcpguard is started"
    return 'contains "${" without a valid reference; write ${env:NAME} or ${file:/path}'


def _value(reference: Reference, environ: Mapping[str, str], folders: tuple[Path, ...]) -> str:
    if reference.kind is ReferenceKind.FILE:
        return _content(reference.name, folders)
    value = environ.get(reference.name)
    if not value:
        state = "not set" if value is None else "empty"
        raise UnresolvedReference(f"{reference.name} is {state} in the environment of mcpguard")
    return value


def _content(name: str, folders: tuple[Path, ...]) -> str:
    shown_path = visible(name[:200])
    try:
        # Links are followed before the check: a link inside an allowed folder must not lead out of it.
        path = Path(name).resolve()
        if not any(folder.is_absolute() and path.is_relative_to(folder.resolve()) for folder in folders):
            raise UnresolvedReference(f"{shown_path} {_BEYOND}")
        data = _regular(path, shown_path)
        text = data.decode()
    except UnicodeDecodeError:
        raise UnresolvedReference(f"{shown_path} is not UTF-8 text") from None
    except OSError as error:
        raise UnresolvedReference(f"{shown_path} cannot be read: {error.strerror}") from None
    except (RuntimeError, ValueError):  # a loop of symbolic links, or no path at all
        raise UnresolvedReference(f"{shown_path} cannot be read") from None
    value = text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
    if not value or "\0" in value:
        raise UnresolvedReference(f"{shown_path} is empty" if not value else f"{shown_path} contains a NUL character")
    return value


def _regular(path: Path, shown_path: str) -> bytes:
    """Read a regular file. The path was resolved before; O_NOFOLLOW refuses a link that took its place since."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnresolvedReference(f"{shown_path} is not a regular file")
        data = file.read(LARGEST_SECRET + 1)
    if len(data) > LARGEST_SECRET:
        raise UnresolvedReference(f"{shown_path} is larger than {LARGEST_SECRET} bytes")
    return data
