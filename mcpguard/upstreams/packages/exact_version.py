"""Names the exact version of a package in the command that runs it, once an inspection has shown which one that is."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mcpguard.upstreams.packages.package import Package
from mcpguard.upstreams.packages.package_commands import recognise_package

_ARTIFACT: Final = re.compile(r"(?P<ecosystem>npm|python):(?P<name>\S+?)(?P<mark>@|==)(?P<version>[^\s@=]+) sha256:\S+")
_EXTRAS: Final = re.compile(r"\[[^\]]*\]")


def arguments_with_version(command: str, arguments: Sequence[str], artifact: str | None) -> tuple[str, ...] | None:
    """Return the arguments with the exact version of the installed package in them.

    None where the command runs no package, or not the installed one, or names this version already.
    """
    package, installed = recognise_package(command, arguments), _ARTIFACT.fullmatch(artifact or "")
    if not isinstance(package, Package) or installed is None:
        return None
    if (package.ecosystem.value, package.name) != (installed["ecosystem"], installed["name"]):
        return None
    extras = _EXTRAS.search(package.specification)
    exact = f"{package.name}{extras[0] if extras else ''}{installed['mark']}{installed['version']}"
    if package.specification == exact:
        return None
    wanted = replace(package, specifications=(exact, *package.specifications[1:]))
    for at, word in enumerate(arguments):
        option = word[: word.index("=") + 1] if word.startswith("--") and "=" in word else ""
        found = (*arguments[:at], option + exact, *arguments[at + 1 :])
        # The only proof that the right word was replaced is that the command runs the same package as before.
        if recognise_package(command, found) == wanted:
            return found
    return None
