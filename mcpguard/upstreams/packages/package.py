"""A package as requested by a declaration.

Rules kept here:
1. Names and versions are limited to an alphabet that cannot express anything else: no path, URL, file or archive, no
   option, no blank. So on any command line they can only name a package of a registry.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Ecosystem(StrEnum):
    NPM = "npm"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Package:
    """What to install and what to run of it.

    `specifications` are the packages to install, the server's own first. `program` is which of its programs to run,
    None for the default one; `python` is the requested interpreter. `runner` is the declared command: the tools it
    needs may lie beside it.
    """

    ecosystem: Ecosystem
    specifications: tuple[str, ...]
    program: str | None = None
    arguments: tuple[str, ...] = ()
    python: str | None = None
    runner: str = ""

    @property
    def specification(self) -> str:
        return self.specifications[0]

    @property
    def name(self) -> str:
        """The package's name, without its version and extras."""
        pattern = _NPM if self.ecosystem is Ecosystem.NPM else _PYTHON
        found = pattern.fullmatch(self.specification)
        assert found  # noqa: S101 - it was made of one that matched
        return found["name"]


_WORD: Final = r"[A-Za-z0-9][A-Za-z0-9._~-]*"
_NPM: Final = re.compile(
    rf"(?P<name>(?:@{_WORD}/)?[A-Za-z0-9_][A-Za-z0-9._~-]*)(?:@[A-Za-z0-9^~*=<>][A-Za-z0-9^~*=<>.+_-]*)?"
)
_CLAUSE: Final = r"(?:===|==|~=|!=|<=|>=|<|>)[A-Za-z0-9][A-Za-z0-9.*+!_-]*"
_PYTHON_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_PYTHON: Final = re.compile(
    rf"(?P<name>{_PYTHON_NAME})(?P<extras>\[{_PYTHON_NAME}(?:,{_PYTHON_NAME})*\])?(?:{_CLAUSE}(?:,{_CLAUSE})*)?"
)
_AT: Final = re.compile(rf"(?P<name>{_PYTHON_NAME}(?:\[[^\]]*\])?)@(?P<version>[A-Za-z0-9][A-Za-z0-9.+!_-]*)")
_ARCHIVE: Final = re.compile(r"\.(tgz|tar|tar\.\w+|zip|whl|egg)$", re.IGNORECASE)
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_VERSION: Final = re.compile(r"(?:python)?\d+(?:\.\d+){0,2}")
LONGEST: Final = 214


def npm(text: str) -> str | None:
    """Return the specification in npm's form, or None if it is none that a registry knows."""
    found = _NPM.fullmatch(text)
    if not found or len(text) > LONGEST or _ARCHIVE.search(text) or _ARCHIVE.search(found["name"]):
        return None
    return text


def python(text: str) -> str | None:
    """Return the specification in the form of Python installers, or None. Only `uvx` knows the spelling `name@1.2`."""
    if at := _AT.fullmatch(text):
        text = at["name"] if at["version"] == "latest" else f"{at['name']}=={at['version']}"
    plain = text.replace(" ", "")
    if not _PYTHON.fullmatch(plain) or len(text) > LONGEST or _ARCHIVE.search(plain):
        return None
    return plain


def program(text: str) -> str | None:
    return text if _PROGRAM.fullmatch(text) and len(text) <= LONGEST else None


def interpreter(text: str) -> str | None:
    """Return the text if it is a version of Python or the absolute path of a program, or None."""
    return text if _VERSION.fullmatch(text) or (text.startswith("/") and text.isprintable()) else None
