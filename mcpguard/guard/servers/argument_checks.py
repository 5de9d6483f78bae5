"""Compares the arguments of calls with the approved definitions.

Rules kept here:
1. A call is judged several times while it lasts, but its arguments are checked only once. They are compared again only
   if another definition has come into force.
2. Schemas are compiled when first needed, and cached by the fingerprint of their definition; the least recently used
   are evicted first.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.servers.listings import Definition
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy.arguments.argument_checks import CALL, GET, check_prompt_arguments, check_tool_arguments, too_large
from mcpguard.policy.arguments.call_arguments import Arguments
from mcpguard.policy.arguments.schemas import UNUSABLE, UNVERIFIABLE, SchemaChecks, schema_checks
from mcpguard.policy.secrets.detection import find_secrets
from mcpguard.settings.model import Settings

MOST_SCHEMAS: Final = 4096
MOST_BYTES: Final = 16 * 1024 * 1024


class CallArgumentChecks:
    """Checks arguments and results against schemas, sizes and secrets, and remembers prepared schemas."""

    def __init__(self, settings: Settings) -> None:
        self._bytes = settings.arguments.largest
        self._depth = settings.arguments.deepest
        self._refuses = settings.arguments.secrets == "refuse"
        self._schemas: OrderedDict[str, tuple[SchemaChecks, int]] = OrderedDict()
        self._size = 0

    def look(self, given: Arguments, known: ServerState, pin: Pin | None) -> "ArgumentView":
        """The arguments as the rules see them now. Nothing is checked before a rule asks."""
        return ArgumentView(self, given, known, pin)

    def too_large(self, given: Arguments) -> Detail | None:
        return too_large(given.params, given.encoded, self._bytes, self._depth)

    def secret(self, given: Arguments) -> str | None:
        if given.found is None:
            given.found = find_secrets(given.params)
        return given.found.sure[0] if self._refuses and given.found.sure else None

    def unfit(self, given: Arguments, known: ServerState, pin: Pin | None) -> Objection | None:
        """Why these arguments do not match the definition in force; None where they do."""
        if given.method not in (CALL, GET) or pin is None or pin.listed is None:
            return None
        # A call is judged several times, and compared with one definition only once.
        if given.compared is None or given.compared[0] != pin.listed:
            definition = known.definition(pin.kind, pin.name)
            given.compared = pin.listed, self._compared(given, definition, pin.listed)
        return given.compared[1]

    def _compared(self, given: Arguments, definition: Definition | None, fingerprint: Fingerprint) -> Objection | None:
        if definition is None:
            return UNVERIFIABLE
        if given.method == GET:
            return check_prompt_arguments(given.arguments, definition)
        checks_made = self._checks(definition, fingerprint, "inputSchema")
        return check_tool_arguments(given.arguments, checks_made, len(given.encoded))

    def result_checks(self, known: ServerState, pin: Pin) -> SchemaChecks:
        """The checks for results that the approved definition prescribes."""
        definition = known.definition(pin.kind, pin.name) if pin.listed == pin.approved else None
        if definition is None or pin.approved is None:
            return UNUSABLE
        return self._checks(definition, pin.approved, "outputSchema")

    def _checks(self, definition: Definition, fingerprint: Fingerprint, member: str) -> SchemaChecks:
        key = f"{member} {fingerprint.text}"
        if (kept := self._schemas.get(key)) is not None:
            self._schemas.move_to_end(key)
            return kept[0]
        made, size = schema_checks(definition.get(member))
        self._schemas[key] = made, size
        self._size += size
        # Bounded by number and by size: a server with many large schemas must not fill the memory.
        while len(self._schemas) > MOST_SCHEMAS or (self._size > MOST_BYTES and len(self._schemas) > 1):
            self._size -= self._schemas.popitem(last=False)[1][1]
        return made


@dataclass(frozen=True, slots=True)
class ArgumentView:
    """The arguments of a call, compared with the definition in force at one moment. Nothing is computed before it is
    asked for."""

    checking: CallArgumentChecks
    given: Arguments
    known: ServerState
    pin: Pin | None

    @property
    def too_large(self) -> Detail | None:
        return self.checking.too_large(self.given)

    @property
    def unfit(self) -> Objection | None:
        return self.checking.unfit(self.given, self.known, self.pin)

    @property
    def secret(self) -> str | None:
        return self.checking.secret(self.given)
