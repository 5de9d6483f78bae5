"""The launch identity of a declared server.

Rules kept here:
1. References are not resolved: the identity does not depend on their values, and is computed without any secret.
2. A variable that decides what code runs must be a literal. With a reference, the code could change while the identity
   does not.
3. The key never changes; with another key, every server with a literal value would count as a new one.
"""

from collections.abc import Iterator, Mapping

from mcpguard.codec.fingerprints import literal_digest
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.identity import GivenVariable, LaunchIdentity, PartKind, TemplatePart, is_code
from mcpguard.domain.servers.launches import Launch, RemoteLaunch, StdioLaunch
from mcpguard.settings.entries.references import BadTemplate, parts


class Unidentifiable(GuardError):
    """The declaration does not determine what would run. The message repeats no value."""


def launch_identity(launch: Launch, key: bytes) -> LaunchIdentity:
    """Return the identity of a launch. Raises Unidentifiable, and Unreadable for lone surrogates in literal values."""
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
            raise Unidentifiable(
                f"the variable {name} decides what code runs, so its value must be written out, without a reference"
            )
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
