"""The parameters of one call with cached check results, so that each check runs once per definition."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.policy.secrets.detection import FoundSecrets


@dataclass(eq=False)
class Arguments:
    """The parameters of one call and the cached results."""

    method: str
    params: Mapping[str, Any]
    compared: tuple[Fingerprint, Objection | None] | None = None
    found: FoundSecrets | None = None
    same: tuple[Fingerprint | None, bytes] | None = None

    @cached_property
    def encoded(self) -> bytes:
        """The parameters as they are sent."""
        return dumps(self.params)

    @property
    def arguments(self) -> object:
        return self.params.get("arguments")
