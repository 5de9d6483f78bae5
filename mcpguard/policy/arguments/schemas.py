"""Checks arguments against the approved schema.

Rules kept here:
1. Nothing is fetched: an external reference makes a schema unusable, and so does anything that the validator rejects.
2. The cost of a schema is limited before it is used: size, depth, weight and patterns. Patterns run in linear time; for
   those that cannot, the number of attempts is limited.
3. Arguments that cannot be checked are refused. A schema without constraints accepts every object.
4. An optional argument that is null counts as omitted: models and clients send nulls, and servers accept them.
5. Annotations such as `format` constrain nothing, as in the validators of servers.
"""

from collections.abc import Mapping
from typing import Any, Final

from jsonschema_rs import FancyRegexOptions, RegexOptions, ValidationError, Validator, validator_for

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.arguments.mismatch import WHATEVER, describe_mismatch
from mcpguard.policy.arguments.weights import SchemaWeight, TooHeavy, count_values, weigh_schema

LARGEST_SCHEMA: Final = 256 * 1024
MOST_PATTERNS: Final = 100
MOST_WORK: Final = 20_000_000
"""The limit for the weight of a schema times the number of values in the arguments: about a second at worst."""
MOST_EXPLAINED: Final = 200_000
"""The limit for explaining what is wrong with arguments, which costs more than checking them."""
_TRIED: Final = 100
"""The factor for the weight of a schema with patterns that cannot run in linear time."""
PATTERN_BYTES: Final = 1024 * 1024
"""The limit for one compiled pattern. Compiling blocks every thread."""
ALL_PATTERNS_BYTES: Final = 2 * PATTERN_BYTES
"""The limit for all compiled patterns of a schema, in equal shares."""
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
    """A schema that arguments can be checked against."""

    def __init__(self, validator: Validator, weight: int, *, cyclic: bool) -> None:
        self._validator = validator
        self._weight = weight
        self._cyclic = cyclic

    def objection_to(self, arguments: Mapping[str, Any], size: int) -> Objection | None:
        """Return the objection to these arguments, which have `size` bytes."""
        work = self._weight * size
        if work > MOST_WORK and self._weight * count_values(arguments) > MOST_WORK:
            return UNVERIFIABLE
        try:
            if self._validator.is_valid(arguments) or self._without_nulls(arguments):
                return None
            if self._cyclic or work > MOST_EXPLAINED:
                return _INVALID
            self._validator.validate(arguments)
        except ValidationError as error:
            return Objection(Reason.ARGUMENTS_INVALID, describe_mismatch(error))
        except ValueError:  # nested too deeply for the validator
            return UNVERIFIABLE
        return _INVALID

    def describes(self, value: object) -> bool | None:
        """Tell whether a value matches strictly, without the exception for null; None if that cannot be checked."""
        if self._weight * count_values(value) > MOST_WORK:
            return None
        try:
            return self._validator.is_valid(value)
        except ValueError:
            return None

    def _without_nulls(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the arguments match if those that are null count as left out."""
        present = {name: value for name, value in arguments.items() if value is not None}
        return len(present) < len(arguments) and self._validator.is_valid(present)


class AcceptsAnything:
    """No schema, or one without constraints."""

    def objection_to(self, _arguments: Mapping[str, Any], _size: int) -> Objection | None:
        return None

    def describes(self, _value: object) -> bool | None:
        return True


class UnusableSchema:
    """A schema that arguments cannot be checked against."""

    def objection_to(self, _arguments: Mapping[str, Any], _size: int) -> Objection | None:
        return UNVERIFIABLE

    def describes(self, _value: object) -> bool | None:
        return None


SchemaChecks = UsableSchema | AcceptsAnything | UnusableSchema
ANYTHING: Final = AcceptsAnything()
UNUSABLE: Final = UnusableSchema()


def schema_checks(schema: object) -> tuple[SchemaChecks, int]:
    """Return the check that a schema stands for, and its size in bytes."""
    if _asks_nothing(schema):
        return ANYTHING, 0
    size = len(dumps(schema))
    found = _bounded(schema, size)
    return (UNUSABLE, 0) if found is None or not isinstance(schema, dict) else (_made(schema, found), size)


def is_usable(schema: object, *, with_patterns: bool) -> bool | None:
    """Tell whether a schema can be used. None if that depends on its patterns, which are compiled only
    `with_patterns`: that takes long and blocks everything else."""
    if _asks_nothing(schema):
        return True
    try:
        found = _bounded(schema, len(dumps(schema)))
    except ValueError:  # a lone surrogate or infinity: impossible in a message, possible in a file
        return False
    if found is None or not isinstance(schema, dict):
        return False
    if found.patterns and not with_patterns:
        return None
    return not isinstance(_made(schema, found), UnusableSchema)


def _asks_nothing(schema: object) -> bool:
    return schema is None or schema is True or schema == {}


def _bounded(schema: object, size: int) -> SchemaWeight | None:
    """Return the weight of the schema; None if it exceeds a limit."""
    if not isinstance(schema, dict) or size > LARGEST_SCHEMA:
        return None
    try:
        found = weigh_schema(schema)
    except TooHeavy:
        return None
    return found if len(found.patterns) <= MOST_PATTERNS else None


def _made(schema: dict[str, Any], found: SchemaWeight) -> SchemaChecks:
    known = _with_known_draft(schema)
    most = min(PATTERN_BYTES, ALL_PATTERNS_BYTES // max(1, len(found.patterns)))
    linear = RegexOptions(size_limit=most, dfa_size_limit=PATTERN_BYTES)
    bounded = FancyRegexOptions(backtrack_limit=1000, size_limit=most, dfa_size_limit=PATTERN_BYTES)
    for patterns, weight in ((linear, found.weight), (bounded, found.weight * _TRIED)):
        try:
            validator = validator_for(known, retriever=_refuse, pattern_options=patterns, validate_formats=False)
        except ValueError:
            continue  # the second attempt helps if a pattern was the cause
        return UsableSchema(validator, weight, cyclic=found.cyclic)
    return UNUSABLE


def _with_known_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema; one with an unknown dialect without it, so that it is read in the protocol's own."""
    said = schema.get("$schema")
    if said is None or (isinstance(said, str) and said.rstrip("#") in _DRAFTS):
        return schema
    return {key: value for key, value in schema.items() if key != "$schema"}


def _refuse(_uri: str) -> Any:  # noqa: ANN401 - the type of the validator's schemas
    raise LookupError("external references are not fetched")
