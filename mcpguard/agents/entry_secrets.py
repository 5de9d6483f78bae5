"""Extracts the secrets from another program's entry: each goes into a separate file, which the entry then references.

Rules kept here:
1. A value that has the name or the form of a secret is extracted from `env` and `headers`. A variable that decides
   which code runs stays, because the reviewer has to see it.
2. Arguments and URLs are visible to anyone who can list processes or read a log. An entry with an apparent secret in
   one of them is `Untaken`.
3. Nothing is written here: the content of the files is returned.
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
"""Matches a header's authentication scheme, which is no secret, and the secret after it."""
_TEMPLATES: Final = ("env", "headers")
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class SecretFreeEntry:
    """An entry in the guard's form, without secrets.

    `files` have to be written before it is used, `asked` are files for the user to write, and `variables` have to be in
    the guard's environment.
    """

    members: Mapping[str, object]
    files: Mapping[Path, str] = field(default_factory=dict, repr=False)
    asked: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()


def take_out_secrets(members: Mapping[str, object], folder: Path) -> SecretFreeEntry:
    """Return the entry with its secrets in files of the folder. Raises Untaken."""
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
    """Collects the secrets that are taken out of one entry."""

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
            raise Untaken(f"has a variable and an apparent secret in {place}; use only one of them")
        self.variables |= dict.fromkeys(_VARIABLE.findall(value))
        match INPUT.findall(value):
            case []:
                return value
            case [_]:
                path = self._file(place, name)
                self.asked.append(path)
                return INPUT.sub(lambda _: f"${{file:{path}}}", value)
            case _:
                raise Untaken(f"has more than one input in {place}; put the value into one file")

    def _literal(self, place: str, name: str, value: str) -> str:
        if not value or is_code(name) or not (is_secret_name(name) or looks_secret(value)):
            return value
        scheme = _SCHEME.fullmatch(value) if place.startswith("headers") else None
        before, secret = (scheme[1], scheme[2]) if scheme else ("", value)
        if secret.endswith(("\n", "\r")) or "\0" in secret:
            raise Untaken(
                f"has a secret in {place} that cannot be stored in a file, because of its line end or a null byte"
            )
        path = self._file(place, name)
        self.files[path] = secret
        return f"{before}${{file:{path}}}"

    def _file(self, place: str, name: str) -> Path:
        if not _FILE_NAME.fullmatch(name):
            raise Untaken(f"has a secret in {place}, whose name cannot be used as a file name")
        return self._folder / name


def _no_secret_in_command(command: object) -> None:
    if isinstance(command, str) and secret_in_command(command):
        raise Untaken(
            "has an apparent secret in its command, which everyone who lists processes can read; name only the program "
            "there, and pass the secret in env"
        )


def _no_secret_in_arguments(arguments: object) -> None:
    words = [each if isinstance(each, str) else "" for each in arguments] if isinstance(arguments, list) else []
    for number in secret_arguments(words):
        raise Untaken(
            f"has an apparent secret in args[{number}], which everyone who lists processes can read; pass it in env, "
            "or add the server by hand with ${file:/path} there"
        )


def _no_secret_in_url(url: object) -> None:
    if isinstance(url, str) and secret_in_url(url):
        raise Untaken(
            "has an apparent secret in its url, which logs on the way record; pass it in a header, if the server "
            "supports that"
        )
