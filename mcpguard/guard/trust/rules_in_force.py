"""What is asked of every call, for people: each rule with what it asks, and the settings that it comes from.

Rule kept here: the order is the one in which calls are judged (`policy.judge`). A rule without a setting is one that
nothing switches off; a setting here is as it is in force, which is not always as it was written (`confirmed_settings`).
"""

from dataclasses import dataclass
from typing import Final

from mcpguard.domain.json import SettingValue
from mcpguard.settings.fields import public
from mcpguard.settings.model import Settings

FIRST: Final = "caller.holds"
"""What is asked before the rules are."""


@dataclass(frozen=True, slots=True)
class Governs:
    """A rule by its name in the records, and what it asks. `settings`: each that it comes from, with what it says."""

    name: str
    asks: str
    settings: tuple[tuple[str, SettingValue], ...]


_RULES: Final = (
    (FIRST, "Its token was not revoked, and its time is not over.", ""),
    (
        "scope.name",
        "The server and the name are within the scope of the caller. Out of reach and not there look the same.",
        "anonymous.enabled anonymous.servers anonymous.tools",
    ),
    ("server.standing", "A person has approved the server as it is launched, and it is not switched off.", ""),
    ("capability.known", "The server offers such a thing now.", ""),
    (
        "capability.standing",
        "A person has approved exactly the definition that the server lists, and nobody has blocked it.",
        "",
    ),
    (
        "scope.effect",
        "The caller may use what has this effect: the one that a person assigned, whatever the call declares.",
        "anonymous.effects",
    ),
    ("server.reachable", "There is a connection to the server.", ""),
    (
        "definition.in_force",
        "What is known of the server is what this very connection listed last, and not long ago.",
        "definitions.confirm_seconds",
    ),
    ("capability.tasks", "The tool can be called without a task: the guard carries none.", ""),
    (
        "intent",
        "The call declares no less than will happen. Some callers must declare whatever does more than read.",
        "",
    ),
    ("arguments.size", "It carries no more than a call may.", "arguments.largest arguments.deepest"),
    ("arguments.schema", "Its arguments are what the approved definition describes.", ""),
    ("arguments.secrets", "Nothing in its arguments surely is a secret.", "arguments.secrets"),
    (
        "budget.calls",
        "The caller has calls left, in a minute and at once.",
        "budgets.caller_minute budgets.capability_minute budgets.at_once",
    ),
    (
        "hold.person",
        "A person has allowed this very call, where a phrase of the setting wants one.",
        "holds.calls holds.life_seconds holds.per_caller",
    ),
)
_AFTER: Final = (
    (
        "What the server asks meanwhile",
        "Roots, sampling and elicitation reach the client only where a person permitted this server to ask.",
        "asking.per_call asking.question_bytes",
    ),
    ("How long the reply is", "A reply that is larger is withheld.", "replies.largest"),
    (
        "What the reply says",
        "It is looked through for secrets and for orders to the agent. A server can have a mode of its own.",
        "screening.mode screening.patience_seconds",
    ),
    (
        "What is kept of it",
        "The call and its verdict are in the audit log; arguments and replies as said here.",
        "audit.bodies",
    ),
)


def rules(settings: Settings) -> tuple[Governs, ...]:
    """What is asked before a call is sent, in its order: the first that objects decides."""
    return _with(settings, _RULES)


def after(settings: Settings) -> tuple[Governs, ...]:
    """What is done with a call that was sent."""
    return _with(settings, _AFTER)


def _with(settings: Settings, written: tuple[tuple[str, str, str], ...]) -> tuple[Governs, ...]:
    values = public(settings)
    return tuple(Governs(name, asks, tuple((key, values[key]) for key in keys.split())) for name, asks, keys in written)
