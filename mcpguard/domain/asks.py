"""What a server asks of the client whose call it is working on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.errors import GuardError
from mcpguard.domain.reasons import Reason


class AskKind(StrEnum):
    """What is asked for; the same word by which a client says that it can be asked."""

    ROOTS = "roots"
    SAMPLING = "sampling"
    ELICITATION = "elicitation"


KINDS: Final[Mapping[str, AskKind]] = MappingProxyType(
    {
        "roots/list": AskKind.ROOTS,
        "sampling/createMessage": AskKind.SAMPLING,
        "elicitation/create": AskKind.ELICITATION,
    }
)
"""By the method that asks."""

Capabilities = Mapping[str, Any]
"""What a client says it can do."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that is asked. `method` is one of KINDS."""

    method: str
    params: Mapping[str, Any]

    @property
    def kind(self) -> AskKind:
        return KINDS[self.method]


Asks = Mapping[str, Ask]
"""Things asked at once, each under a name; the answers come under the same names."""
Answers = dict[str, dict[str, Any]]


class Declined(GuardError):
    """There is no answer to what was asked. `error` is the client's own, where it gave one."""

    def __init__(self, reason: Reason, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason.sentence)
        self.reason = reason
        self.error = error
