"""A call: the caller, the operation, its arguments, and the stated reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, Effect


class Face(StrEnum):
    """One interface that the guard shows to agents; `api`: a user makes the call in an agent's name."""

    GUARD = "guard"
    DIRECT = "direct"
    TRANSPARENT = "transparent"
    API = "api"


class Sensitivity(StrEnum):
    """How sensitive the data of a call is, as the agent declares it."""

    PUBLIC = "public"
    INTERNAL = "internal"
    PRIVATE = "private"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Intent:
    """The purpose of a call. Either the agent declared it, or the face that the call came through implies it."""

    operation: Effect
    declared: bool
    sensitivity: Sensitivity = Sensitivity.UNKNOWN
    reason: str = ""


CODE_EXECUTION: Final = "code_execution"
"""The tool that runs programs of agents."""
IMPLIED: Final = {effect: Intent(effect, declared=False) for effect in Effect}
"""The intents that are implied by what is called, by its effect."""


@dataclass(frozen=True, slots=True)
class Call:
    """A caller, a capability, its arguments and an intent. Its id is the id of its entry in the ledger."""

    id: str
    caller: Caller
    capability: Capability
    arguments: Mapping[str, object]
    intent: Intent
    face: Face
