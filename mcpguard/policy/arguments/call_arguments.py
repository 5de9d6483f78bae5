"""What a call carries, and what was found out about that: once for each definition that it is held against."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.policy.secrets.finding import FoundSecrets


@dataclass(eq=False)
class Arguments:
    """What one call carries."""

    method: str
    params: Mapping[str, Any]
    compared: tuple[Fingerprint, Objection | None] | None = None
    found: FoundSecrets | None = None
    same: tuple[Fingerprint | None, bytes] | None = None

    @cached_property
    def written(self) -> bytes:
        """As it is sent."""
        return dumps(self.params)

    @property
    def arguments(self) -> object:
        return self.params.get("arguments")
