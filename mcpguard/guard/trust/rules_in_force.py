"""The rules that every call is judged by, as shown to people: what each checks, and the settings behind it.

Rule kept here: the order is that of judgement (`policy.judge`). A rule without a setting cannot be switched off; a
setting is shown with its value in force, which may differ from the configured one (`confirmed_settings`).
"""

from dataclasses import dataclass
from typing import Final

from mcpguard.domain.json import SettingValue
from mcpguard.settings.fields import public_values
from mcpguard.settings.model import Settings

FIRST: Final = "caller.holds"
"""The check that comes before all rules."""


@dataclass(frozen=True, slots=True)
class RuleInForce:
    """A rule by its name in the records, and what it checks. `settings`: those that it comes from, with their
    values."""

    name: str
    asks: str
    settings: tuple[tuple[str, SettingValue], ...]


_RULES: Final = (
    (FIRST, "The caller's token is neither revoked nor expired.", ""),
    (
        "scope.name",
        "The server and the name are in the caller's scope. Unknown and out-of-scope tools look identical.",
        "anonymous.enabled anonymous.servers anonymous.tools",
    ),
    ("server.standing", "The server is approved with its current launch, and is enabled.", ""),
    ("capability.known", "The server lists this capability now.", ""),
    (
        "capability.standing",
        "Exactly this definition is approved, and the capability is not blocked.",
        "",
    ),
    (
        "scope.effect",
        "The caller's scope allows the assigned effect, whatever the call declares.",
        "anonymous.effects",
    ),
    ("server.reachable", "The server is connected.", ""),
    (
        "definition.in_force",
        "The definitions were confirmed recently on this very connection.",
        "definitions.confirm_seconds",
    ),
    ("capability.tasks", "The tool does not require MCP tasks, which the guard does not support.", ""),
    (
        "intent",
        "The declared intent covers the tool's effect. Some callers must declare everything beyond read.",
        "",
    ),
    ("arguments.size", "The arguments are within the size and depth limits.", "arguments.largest arguments.deepest"),
    ("arguments.schema", "The arguments match the approved schema.", ""),
    ("arguments.secrets", "The arguments contain no certain secret.", "arguments.secrets"),
    (
        "budget.calls",
        "The caller is within its rate and concurrency budgets.",
        "budgets.caller_minute budgets.capability_minute budgets.at_once",
    ),
    (
        "hold.person",
        "Where a hold rule matches, this call was approved.",
        "holds.calls holds.life_seconds holds.per_caller",
    ),
)
_AFTER: Final = (
    (
        "Requests to the client",
        "Roots, sampling and elicitation reach the client only if this server is permitted to ask.",
        "asking.per_call asking.question_bytes",
    ),
    ("Response size", "A larger response is withheld.", "replies.largest"),
    (
        "Response screening",
        "Scanned for secrets and prompt injection. A server can have its own mode.",
        "screening.mode screening.patience_seconds",
    ),
    (
        "Audit log",
        "Every call and verdict is recorded; arguments and responses as configured here.",
        "audit.bodies",
    ),
)


def request_rules(settings: Settings) -> tuple[RuleInForce, ...]:
    """The rules that are checked before a call is sent, in order: the first that objects decides."""
    return _with(settings, _RULES)


def response_rules(settings: Settings) -> tuple[RuleInForce, ...]:
    """What is done with a call once it was sent."""
    return _with(settings, _AFTER)


def _with(settings: Settings, written: tuple[tuple[str, str, str], ...]) -> tuple[RuleInForce, ...]:
    values = public_values(settings)
    return tuple(
        RuleInForce(name, asks, tuple((key, values[key]) for key in keys.split())) for name, asks, keys in written
    )
