"""Arguments against the schema that was approved.

Rules kept here:
1. Nothing is fetched: a reference out of the schema makes it unusable, and so does whatever else the validator refuses.
2. What a schema can cost is bounded before it is used: its size, its depth, its weight, its patterns. Patterns are
   matched in linear time; where one is of a kind that cannot be, with a bound on how often it may be tried.
3. What cannot be checked is not let through. A schema that asks for nothing lets every object through.
4. An argument that is null counts as left out, where it may be left out: so models and clients write it, and servers
   know it.
5. An annotation asks for nothing: `format` does not, as it does not for the servers' own validators.
"""

from collections.abc import Mapping
from typing import Any, Final

from jsonschema_rs import FancyRegexOptions, RegexOptions, ValidationError, Validator, validator_for

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.expected import WHATEVER, told
from mcpguard.policy.arguments.weights import TooHeavy, Weighed, nodes, weighed

LARGEST_SCHEMA: Final = 256 * 1024
MOST_PATTERNS: Final = 100
MOST_WORK: Final = 20_000_000
"""The weight of a schema times the number of values in the arguments: about a second at worst."""
MOST_EXPLAINED: Final = 200_000
"""The same, for finding out what is wrong with them, which costs more."""
_TRIED: Final = 100
"""So much heavier is a schema with patterns that cannot be matched in linear time."""
PATTERN_BYTES: Final = 1024 * 1024
"""Of one pattern when compiled. Nothing else goes on meanwhile, in no thread."""
ALL_PATTERNS_BYTES: Final = 2 * PATTERN_BYTES
"""Of all patterns of a schema together, in equal shares."""
_DRAFTS: Final = frozenset(
    {
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    }
)
UNVERIFIABLE: Final = Objection(Reason.ARGUMENTS_UNVERIFIABLE)
_INVALID: Final = Objection(Reason.ARGUMENTS_INVALID, Detail(path="$", expected=WHATEVER))


class UsableSchema:
    """A schema that can be used."""

    def __init__(self, validator: Validator, weight: int, *, cyclic: bool) -> None:
        self._validator = validator
        self._weight = weight
        self._cyclic = cyclic

    def unfit(self, arguments: Mapping[str, Any], size: int) -> Objection | None:
        """Why these arguments, of so many bytes, are not what it describes."""
        work = self._weight * size
        if work > MOST_WORK and self._weight * nodes(arguments) > MOST_WORK:
            return UNVERIFIABLE
        try:
            if self._validator.is_valid(arguments) or self._without_nulls(arguments):
                return None
            if self._cyclic or work > MOST_EXPLAINED:
                return _INVALID
            self._validator.validate(arguments)
        except ValidationError as error:
            return Objection(Reason.ARGUMENTS_INVALID, told(error))
        except ValueError:  # nested more deeply than it goes
            return UNVERIFIABLE
        return _INVALID

    def describes(self, value: object) -> bool | None:
        """Whether a value is what it describes, taken at its word; None where that cannot be told."""
        if self._weight * nodes(value) > MOST_WORK:
            return None
        try:
            return self._validator.is_valid(value)
        except ValueError:
            return None

    def _without_nulls(self, arguments: Mapping[str, Any]) -> bool:
        """Whether it fits where an argument that is null counts as left out."""
        said = {name: value for name, value in arguments.items() if value is not None}
        return len(said) < len(arguments) and self._validator.is_valid(said)


class Anything:
    """No schema, or one that asks for nothing."""

    def unfit(self, _arguments: Mapping[str, Any], _size: int) -> Objection | None:
        return None

    def describes(self, _value: object) -> bool | None:
        return True


class UnusableSchema:
    """What nothing can be checked against."""

    def unfit(self, _arguments: Mapping[str, Any], _size: int) -> Objection | None:
        return UNVERIFIABLE

    def describes(self, _value: object) -> bool | None:
        return None


Checks = UsableSchema | Anything | UnusableSchema
ANYTHING: Final = Anything()
UNUSABLE: Final = UnusableSchema()


def checks(schema: object) -> tuple[Checks, int]:
    """What a schema makes of arguments, and how large it is."""
    if _asks_nothing(schema):
        return ANYTHING, 0
    size = len(dumps(schema))
    found = _bounded(schema, size)
    return (UNUSABLE, 0) if found is None or not isinstance(schema, dict) else (_made(schema, found), size)


def is_usable(schema: object, *, with_patterns: bool) -> bool | None:
    """Whether anything can be checked against a schema. None where its patterns decide that, which are made ready only
    `with_patterns`: that takes long, and nothing else goes on meanwhile."""
    if _asks_nothing(schema):
        return True
    try:
        found = _bounded(schema, len(dumps(schema)))
    except ValueError:  # half a character, or infinity: no message has it, but a file may
        return False
    if found is None or not isinstance(schema, dict):
        return False
    if found.patterns and not with_patterns:
        return None
    return not isinstance(_made(schema, found), UnusableSchema)


def _asks_nothing(schema: object) -> bool:
    return schema is None or schema is True or schema == {}


def _bounded(schema: object, size: int) -> Weighed | None:
    """What it costs, where that is no more than it may be."""
    if not isinstance(schema, dict) or size > LARGEST_SCHEMA:
        return None
    try:
        found = weighed(schema)
    except TooHeavy:
        return None
    return found if len(found.patterns) <= MOST_PATTERNS else None


def _made(schema: dict[str, Any], found: Weighed) -> Checks:
    known = _with_known_draft(schema)
    most = min(PATTERN_BYTES, ALL_PATTERNS_BYTES // max(1, len(found.patterns)))
    linear = RegexOptions(size_limit=most, dfa_size_limit=PATTERN_BYTES)
    bounded = FancyRegexOptions(backtrack_limit=1000, size_limit=most, dfa_size_limit=PATTERN_BYTES)
    for patterns, weight in ((linear, found.weight), (bounded, found.weight * _TRIED)):
        try:
            validator = validator_for(known, retriever=_refuse, pattern_options=patterns, validate_formats=False)
        except ValueError:
            continue  # a pattern may be what it was; what it was otherwise will be so again
        return UsableSchema(validator, weight, cyclic=found.cyclic)
    return UNUSABLE


def _with_known_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """A dialect that nobody knows is read as the protocol's own."""
    said = schema.get("$schema")
    if said is None or (isinstance(said, str) and said.rstrip("#") in _DRAFTS):
        return schema
    return {key: value for key, value in schema.items() if key != "$schema"}


def _refuse(_uri: str) -> Any:  # noqa: ANN401 - the validator's word for a schema
    raise LookupError("nothing is fetched")
