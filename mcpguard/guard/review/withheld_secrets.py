"""The declaration with which a server is inspected: without secrets, except those that the reviewer names."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, StdioLaunch
from mcpguard.settings.entries.references import references_in, replace_references

PLACEHOLDER: Final = "not-given-during-inspection"


def without_secrets(declared: DeclaredServer, give: frozenset[str]) -> DeclaredServer:
    """The declaration without all secrets but those in `give`. Raises Undecidable where `give` names something
    unknown."""
    launch = declared.launch
    names = {*launch.headers} if isinstance(launch, RemoteLaunch) else {*launch.environment, *_referring(launch)}
    if strange := sorted(give - names):
        raise Undecidable(f"{declared.name} has no variable, header or argument named {', '.join(strange)}")
    if isinstance(launch, RemoteLaunch):
        headers = {name: value for name, value in launch.headers.items() if name in give}
        return replace(declared, launch=replace(launch, headers=headers))
    # What decides which code runs stays: else another program would be inspected than the one that is approved.
    environment = {
        name: value if name in give or is_code(name) else PLACEHOLDER for name, value in launch.environment.items()
    }
    referring = _referring(launch)
    arguments = tuple(
        replace_references(word, PLACEHOLDER) if (name := f"args[{at}]") in referring and name not in give else word
        for at, word in enumerate(launch.arguments)
    )
    return replace(declared, launch=replace(launch, environment=environment, arguments=arguments))


def only_secrets(visited: DeclaredServer, give: Iterable[str]) -> DeclaredServer:
    """The inspected declaration, with only those values in its environment that the reviewer gave."""
    launch = visited.launch
    if isinstance(launch, RemoteLaunch):
        return visited
    environment = {name: launch.environment[name] for name in give if name in launch.environment}
    return replace(visited, launch=replace(launch, environment=environment))


def _referring(launch: StdioLaunch) -> frozenset[str]:
    """The arguments with references, by the names under which a reviewer can give them."""
    return frozenset(f"args[{at}]" for at, word in enumerate(launch.arguments) if references_in(word))
