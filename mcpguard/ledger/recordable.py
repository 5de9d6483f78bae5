"""What goes into a record: without secrets, and in a form that every record has."""

from typing import Final

from mcpguard.codec.canonical import canonical_json
from mcpguard.ledger.format import Fields
from mcpguard.policy.secrets.masking import masked

WORDS: Final = frozenset(
    {"caller_label", "client", "intent_reason", "name", "operation", "selection", "trace", "why", "words"}
)
"""The fields with what people, agents and servers wrote in their own words."""


def recordable(fields: Fields) -> Fields:
    """The fields as they are recorded. Raises Unrecordable here, where it costs one call, for what would otherwise fail
    among others on the writer's thread."""
    words = {name: fields[name] for name in WORDS & fields.keys()}
    left = masked(words, maybe=True)
    checked = fields if left.value is words else {**fields, **left.value}
    canonical_json(checked)
    return checked
