"""The launch identity of a server that somebody declared.

Rules kept here:
1. Nothing is resolved: it is the same identity whatever the references lead to, and needs no secret to be known.
2. A variable that is code must be written out. With a reference in it, the code would change and the identity not.
3. The key is one that never changes; with another key, every server with something written out is a new one.
"""

from collections.abc import Iterator, Mapping

from mcpguard.codec.fingerprints import literal_digest
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.identity import GivenVariable, LaunchIdentity, PartKind, TemplatePart, is_code
from mcpguard.domain.servers.launches import Launch, RemoteLaunch, StdioLaunch
from mcpguard.settings.entries.references import BadTemplate, parts


class Unidentifiable(GuardError):
    """What would run cannot be told from the declaration. Repeats no value."""


def identity(launch: Launch, key: bytes) -> LaunchIdentity:
    """Raises Unidentifiable, and Unreadable for lone surrogates in what is written out."""
    match launch:
        case StdioLaunch():
            return LaunchIdentity(
                launch.transport,
                command=launch.command,
                arguments=launch.arguments,
                folder=launch.folder,
                framing=launch.framing,
                environment=tuple(_variables(launch.environment, key)),
                profile=launch.profile,
                mounts=launch.mounts,
            )
        case RemoteLaunch(transport, url, headers):
            given = (_given(key, "header", name.lower(), template) for name, template in headers.items())
            return LaunchIdentity(transport, url=url, headers=tuple(given))


def _variables(environment: Mapping[str, str], key: bytes) -> Iterator[GivenVariable]:
    for name, template in environment.items():
        given = _given(key, "variable", name, template)
        if is_code(name) and any(part.kind is not PartKind.LITERAL for part in given.parts):
            raise Unidentifiable(f"the variable {name} decides what code runs, so its value must be written out")
        yield given


def _given(key: bytes, place: str, name: str, template: str) -> GivenVariable:
    try:
        found = parts(template)
    except BadTemplate as error:
        raise Unidentifiable(f"the {place} {name} {error}") from None
    return GivenVariable(
        name,
        tuple(
            TemplatePart(PartKind.LITERAL, literal_digest(key, place, name, index, part))
            if isinstance(part, str)
            else TemplatePart(PartKind(part.kind.value), part.name)
            for index, part in enumerate(found)
        ),
    )
