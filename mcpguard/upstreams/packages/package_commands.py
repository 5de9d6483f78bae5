"""Recognises which package a command runs, from the words of the command alone.

Rules kept here:
1. Only a command that is fully understood is recognised. An unlisted option might change which code runs, or its
   source; so a command with one is not installed, and the reason is reported.
2. The words after the package are the server's arguments and are not interpreted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final

from mcpguard.upstreams.packages import package as written
from mcpguard.upstreams.packages.package import Ecosystem, Package


@dataclass(frozen=True, slots=True)
class UnsupportedCommand:
    """The command runs a package but cannot become an installation. `why` is a sentence without a full stop."""

    why: str


@dataclass(frozen=True, slots=True)
class _Options:
    """The known options of a runner: flags, and options with a value and the meaning of that value."""

    flags: frozenset[str]
    valued: Mapping[str, str]


@dataclass(slots=True)
class _Read:
    """The parsed words: option values by their meaning, and `rest`, which begins with the package."""

    values: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)
    ended: bool = False


_NPM: Final = _Options(
    frozenset({"-y", "--yes", "-q", "--quiet", "-s", "--silent"}), {"-p": "package", "--package": "package"}
)
_UV: Final = _Options(
    frozenset({"-q", "--quiet", "--no-progress"}),
    {"--from": "package", "--with": "more", "-p": "python", "--python": "python"},
)


def recognise_package(command: str, arguments: Sequence[str]) -> Package | UnsupportedCommand | None:
    """Return the package that a command runs; None where the command is no package runner."""
    match (PurePosixPath(command).name, *arguments[:2]):
        case ("npx", *_):
            found = _npm(_read(arguments, _NPM), npx=True)
        case ("npm", "exec" | "x", *_):
            found = _npm(_read(arguments[1:], _NPM), npx=False)
        case ("uvx", *_):
            found = _uv(_read(arguments, _UV))
        case ("uv", "tool", "run"):
            found = _uv(_read(arguments[2:], _UV))
        case _:
            return None
    return replace(found, runner=command) if isinstance(found, Package) else found


def _read(words: Sequence[str], options: _Options) -> _Read | UnsupportedCommand:
    read, left = _Read(), list(words)
    while left and left[0].startswith("-"):
        word = left.pop(0)
        if word == "--":
            read.ended = True
            break
        name, equals, value = word.partition("=")
        meaning = options.valued.get(name)
        # For example `--registry` or `--index-url`, with which the package would come from somewhere else.
        if meaning is None and word not in options.flags:
            return UnsupportedCommand(f"its option {name} is not supported")
        if meaning is not None:
            if not equals and not left:
                return UnsupportedCommand(f"its option {name} has no value")
            read.values.setdefault(meaning, []).append(value if equals else left.pop(0))
    read.rest = left
    return read


def _npm(read: _Read | UnsupportedCommand, *, npx: bool) -> Package | UnsupportedCommand:
    if isinstance(read, UnsupportedCommand):
        return read
    named = read.values.get("package", [])
    if not read.rest:
        return UnsupportedCommand("it does not say which package it runs")
    first, arguments = read.rest[0], read.rest[1:]
    if not npx and not read.ended:  # npm takes options for its own wherever they stand, up to a `--`
        before = arguments[: arguments.index("--")] if "--" in arguments else arguments
        if any(word.startswith("-") for word in before):
            return UnsupportedCommand("npm would take an option after the package as its own; put -- before it")
        arguments = [*before, *arguments[len(before) + 1 :]]
    return _package(Ecosystem.NPM, named or [first], first if named else None, arguments)


def _uv(read: _Read | UnsupportedCommand) -> Package | UnsupportedCommand:
    if isinstance(read, UnsupportedCommand):
        return read
    named, python = read.values.get("package", []), read.values.get("python", [])
    more = [each for value in read.values.get("more", []) for each in value.split(",")]
    if not read.rest:
        return UnsupportedCommand("it does not say which package it runs")
    if len(named) > 1 or len(python) > 1:
        return UnsupportedCommand("it has --from or --python twice")
    if python and written.interpreter(python[0]) is None:
        return UnsupportedCommand(f"the Python {python[0]!r} is neither a version nor an absolute path")
    first, *arguments = read.rest
    if not named and _is_interpreter(first):
        return UnsupportedCommand("it runs Python itself, not a package")
    return _package(
        Ecosystem.PYTHON,
        [*(named or [first]), *more],
        first if named else None,
        arguments,
        python[0] if python else None,
    )


def _package(
    ecosystem: Ecosystem, named: Sequence[str], program: str | None, arguments: Sequence[str], python: str | None = None
) -> Package | UnsupportedCommand:
    taken = written.npm if ecosystem is Ecosystem.NPM else written.python
    specifications = []
    for each in named:
        specification = taken(each)
        if specification is None:
            return UnsupportedCommand(f"{each!r} is not a package name with an optional version")
        specifications.append(specification)
    if program is not None and written.program(program) is None:
        return UnsupportedCommand(f"{program!r} is not a valid program name")
    return Package(ecosystem, tuple(specifications), program, tuple(arguments), python)


def _is_interpreter(word: str) -> bool:
    return word.partition("@")[0].rstrip("0123456789.") in {"python", "pypy", "graalpy"}
