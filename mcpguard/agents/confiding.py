"""An entry of another program without its secrets: each becomes a file of its own, and the entry names that file.

Rules kept here:
1. What is called as secrets are, or looks like one, is taken out of `env` and `headers`. What decides which code runs
   is left, as a person has to see it.
2. In arguments and URLs, whoever may list processes or read a log sees what stands there. An entry with what looks
   like a secret in one of them is `Untaken`.
3. Nothing here writes: what is to be in which file is returned.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcpguard.agents.program import Untaken
from mcpguard.agents.variables import INPUT
from mcpguard.domain.servers.identity import is_code
from mcpguard.policy.secrets.known_secrets import is_secret_name
from mcpguard.policy.secrets.launches import looks_secret, secret_arguments, secret_in_command, secret_in_url
from mcpguard.settings.entries.entry import member_place

_VARIABLE: Final = re.compile(r"\$\{env:([^{}]*)\}")
_REFERENCE: Final = re.compile(rf"{_VARIABLE.pattern}|{INPUT.pattern}")
_SCHEME: Final = re.compile(r"((?:Bearer|Basic|Token) +)(.+)", re.IGNORECASE | re.DOTALL)
"""What a header says before its secret, and what everybody may see."""
_TEMPLATES: Final = ("env", "headers")
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class SecretFreeEntry:
    """An entry in our words, without secrets. `files` are to be written before it is used, `asked` by a person, and
    `variables` are to be in the environment of the guard."""

    members: Mapping[str, object]
    files: Mapping[Path, str] = field(default_factory=dict, repr=False)
    asked: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()


def confided(members: Mapping[str, object], folder: Path) -> SecretFreeEntry:
    """The entry with its secrets in files of the folder. Raises Untaken."""
    _no_secret_in_command(members.get("command"))
    _no_secret_in_arguments(members.get("args"))
    _no_secret_in_url(members.get("url"))
    taken = _Taken(folder)
    without = {
        key: taken.out_of(key, value) if key in _TEMPLATES and isinstance(value, Mapping) else value
        for key, value in members.items()
    }
    return SecretFreeEntry(without, taken.files, tuple(taken.asked), tuple(taken.variables))


class _Taken:
    """What was taken out of one entry so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[Path, str] = {}
        self.asked: list[Path] = []
        self.variables: dict[str, None] = {}

    def out_of(self, key: str, values: Mapping[str, object]) -> dict[str, object]:
        return {
            name: self._value(member_place(key, name), name, value) if isinstance(value, str) else value
            for name, value in values.items()
        }

    def _value(self, place: str, name: str, value: str) -> str:
        if not _REFERENCE.search(value):
            return self._literal(place, name, value)
        if any(looks_secret(each) for each in _REFERENCE.sub("\0", value).split("\0")):
            raise Untaken(f"has both a variable and what looks like a secret in {place}; write one of them")
        self.variables |= dict.fromkeys(_VARIABLE.findall(value))
        match INPUT.findall(value):
            case []:
                return value
            case [_]:
                path = self._file(place, name)
                self.asked.append(path)
                return INPUT.sub(lambda _: f"${{file:{path}}}", value)
            case _:
                raise Untaken(f"has more than one value to ask for in {place}; write them into one file")

    def _literal(self, place: str, name: str, value: str) -> str:
        if not value or is_code(name) or not (is_secret_name(name) or looks_secret(value)):
            return value
        scheme = _SCHEME.fullmatch(value) if place.startswith("headers") else None
        before, secret = (scheme[1], scheme[2]) if scheme else ("", value)
        if secret.endswith(("\n", "\r")) or "\0" in secret:
            raise Untaken(f"has a secret in {place} that no file could be read as")
        path = self._file(place, name)
        self.files[path] = secret
        return f"{before}${{file:{path}}}"

    def _file(self, place: str, name: str) -> Path:
        if not _FILE_NAME.fullmatch(name):
            raise Untaken(f"has a secret in {place}, of which no file can have the name")
        return self._folder / name


def _no_secret_in_command(command: object) -> None:
    if isinstance(command, str) and secret_in_command(command):
        raise Untaken(
            "has what looks like a secret in its command, which whoever lists processes can read; write the program "
            "alone there, and let it take the secret from its environment (env)"
        )


def _no_secret_in_arguments(arguments: object) -> None:
    words = [each if isinstance(each, str) else "" for each in arguments] if isinstance(arguments, list) else []
    for number in secret_arguments(words):
        raise Untaken(
            f"has what looks like a secret in args[{number}], which whoever lists processes can read; let the server "
            "take it from its environment (env), or add it yourself with ${file:/path} there: mcpguard server add"
        )


def _no_secret_in_url(url: object) -> None:
    if isinstance(url, str) and secret_in_url(url):
        raise Untaken(
            "has what looks like a secret in its url, which every log on the way holds; "
            "give it in a header if the server takes it there"
        )
