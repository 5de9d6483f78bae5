"""Prepares the fields of a record: masks secrets and checks that the fields can be stored."""

from typing import Final

from mcpguard.codec.canonical import canonical_json
from mcpguard.ledger.format import Fields
from mcpguard.policy.secrets.masking import mask_secrets

WORDS: Final = frozenset(
    {"caller_label", "client", "intent_reason", "name", "operation", "selection", "trace", "why", "words"}
)
"""The fields with free text of people, agents and servers, in which secrets are masked."""


def recordable(fields: Fields) -> Fields:
    """The fields as they are recorded, secrets masked. Raises Unrecordable for what no record can hold."""
    words = {name: fields[name] for name in WORDS & fields.keys()}
    # Free text may hold secrets that agents pasted; the log must not become a place to find them.
    left = mask_secrets(words, maybe=True)
    checked = fields if left.value is words else {**fields, **left.value}
    canonical_json(
        checked
    )  # here it fails one call; on the writer's thread it would fail all that share its transaction
    return checked
