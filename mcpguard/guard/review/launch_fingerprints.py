"""The fingerprint of a launch: it covers what would run, and its sandbox."""

from dataclasses import dataclass, field

from mcpguard.codec.fingerprints import launch_fingerprint
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.launches import Launch
from mcpguard.settings.entries.identity import Unidentifiable, launch_identity


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Computes fingerprints of launches. With `key`, values that are written out are told apart and cannot be
    guessed."""

    key: bytes = field(repr=False)

    def __call__(self, launch: Launch) -> Fingerprint:
        """The fingerprint of a launch. Raises NotDeclared where it cannot be told what would run."""
        try:
            # Keyed, so that a short secret in a launch cannot be guessed from its fingerprint.
            return launch_fingerprint(launch_identity(launch, self.key))
        except (Unidentifiable, Unreadable) as error:
            raise NotDeclared((str(error),)) from error
