"""By what a launch is known: the fingerprint of what would run, with how it is confined."""

from dataclasses import dataclass, field

from mcpguard.codec.fingerprints import launch_fingerprint
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.launches import Launch
from mcpguard.settings.entries.identity import Unidentifiable, identity


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """`key`: with it, what is written out in a launch is told apart and not shown."""

    key: bytes = field(repr=False)

    def __call__(self, launch: Launch) -> Fingerprint:
        """Raises NotDeclared where what would run cannot be told."""
        try:
            return launch_fingerprint(identity(launch, self.key))
        except (Unidentifiable, Unreadable) as error:
            raise NotDeclared((str(error),)) from error
