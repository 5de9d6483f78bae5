"""Which package a command runs, told from its words alone.

Rules kept here:
1. Only what is understood whole is recognised. An option that is not listed here may change what is run, or from
   where; so whatever has one is left alone, and it is said why.
2. What stands behind the package belongs to the server and is not looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final

from mcpguard.upstreams.packages import package as written
from mcpguard.upstreams.packages.package import Ecosystem, Package


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """It runs a package, but not in a way that is known here. `why` is a sentence without its end."""

    why: str


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a runner: those without a value, and those with one, by what they mean."""

    flags: frozenset[str]
    valued: Mapping[str, str]


@dataclass(slots=True)
class _Read:
    """What stood before the package: values by what they mean. `rest` begins with the package."""

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


def recognised(command: str, arguments: Sequence[str]) -> Package | Unrecognised | None:
    """None where no package runner is run at all."""
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


def _read(words: Sequence[str], options: _Options) -> _Read | Unrecognised:
    read, left = _Read(), list(words)
    while left and left[0].startswith("-"):
        word = left.pop(0)
        if word == "--":
            read.ended = True
            break
        name, equals, value = word.partition("=")
        meaning = options.valued.get(name)
        if meaning is None and word not in options.flags:
            return Unrecognised(f"its option {name} is not one that an installation knows")
        if meaning is not None:
            if not equals and not left:
                return Unrecognised(f"its option {name} has no value")
            read.values.setdefault(meaning, []).append(value if equals else left.pop(0))
    read.rest = left
    return read


def _npm(read: _Read | Unrecognised, *, npx: bool) -> Package | Unrecognised:
    if isinstance(read, Unrecognised):
        return read
    named = read.values.get("package", [])
    if not read.rest:
        return Unrecognised("it does not say which package it runs")
    first, arguments = read.rest[0], read.rest[1:]
    if not npx and not read.ended:  # npm takes options for its own wherever they stand, up to a `--`
        before = arguments[: arguments.index("--")] if "--" in arguments else arguments
        if any(word.startswith("-") for word in before):
            return Unrecognised("an option behind the package would be npm's own: put -- before it")
        arguments = [*before, *arguments[len(before) + 1 :]]
    return _package(Ecosystem.NPM, named or [first], first if named else None, arguments)


def _uv(read: _Read | Unrecognised) -> Package | Unrecognised:
    if isinstance(read, Unrecognised):
        return read
    named, python = read.values.get("package", []), read.values.get("python", [])
    more = [each for value in read.values.get("more", []) for each in value.split(",")]
    if not read.rest:
        return Unrecognised("it does not say which package it runs")
    if len(named) > 1 or len(python) > 1:
        return Unrecognised("it says twice what can be said once")
    if python and written.interpreter(python[0]) is None:
        return Unrecognised(f"the Python {python[0]!r} is neither a version nor the path of a program")
    first, *arguments = read.rest
    if not named and _is_interpreter(first):
        return Unrecognised("it runs Python itself, and no package")
    return _package(
        Ecosystem.PYTHON,
        [*(named or [first]), *more],
        first if named else None,
        arguments,
        python[0] if python else None,
    )


def _package(
    ecosystem: Ecosystem, named: Sequence[str], program: str | None, arguments: Sequence[str], python: str | None = None
) -> Package | Unrecognised:
    taken = written.npm if ecosystem is Ecosystem.NPM else written.python
    specifications = []
    for each in named:
        specification = taken(each)
        if specification is None:
            return Unrecognised(f"{each!r} is no package of a registry, by its name and a version")
        specifications.append(specification)
    if program is not None and written.program(program) is None:
        return Unrecognised(f"{program!r} is not the name of a program in a package")
    return Package(ecosystem, tuple(specifications), program, tuple(arguments), python)


def _is_interpreter(word: str) -> bool:
    return word.partition("@")[0].rstrip("0123456789.") in {"python", "pypy", "graalpy"}
