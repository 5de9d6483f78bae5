"""Requests that a server makes during a call to the client that made the call."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.errors import GuardError
from mcpguard.domain.reasons import Reason


class AskKind(StrEnum):
    """The kinds of request, named as the capability by which a client says that it supports them."""

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
"""The kind of each request method."""

Capabilities = Mapping[str, Any]
"""The capabilities that a client declares."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a client. `method` is a key of KINDS."""

    method: str
    params: Mapping[str, Any]

    @property
    def kind(self) -> AskKind:
        return KINDS[self.method]


Asks = Mapping[str, Ask]
"""Requests that are made together, each under a name; the answers come under the same names."""
Answers = dict[str, dict[str, Any]]


class QuestionDeclined(GuardError):
    """A request to a client has no answer. `error` is the client's own, where it gave one."""

    def __init__(self, reason: Reason, error: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason.sentence)
        self.reason = reason
        self.error = error
