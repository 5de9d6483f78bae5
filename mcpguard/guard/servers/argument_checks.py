"""The arguments of calls, compared with the approved definitions.

Rules kept here:
1. A call is judged several times while it lasts, but its arguments are checked only once, each check when a rule first
   needs it. They are compared again only if another definition has come into force.
2. Schemas are compiled when first needed, and cached by the fingerprint of their definition; the least recently used
   are evicted first.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.servers.listings import Definition
from mcpguard.domain.servers.pins import Pin
from mcpguard.policy.arguments.argument_checks import CALL, GET, NO_OBJECT, check_prompt_arguments, nested_too_deeply
from mcpguard.policy.arguments.schemas import UNVERIFIABLE, SchemaChecks, schema_checks
from mcpguard.policy.secrets.detection import NOTHING, FoundSecrets, find_secrets, may_hold_in_json
from mcpguard.settings.model import Settings

if TYPE_CHECKING:
    from mcpguard.guard.servers.registry import ServerState

MOST_SCHEMAS: Final = 4096
MOST_BYTES: Final = 16 * 1024 * 1024


class CallArgumentChecks:
    """What arguments and results are checked with: limits, and prepared schemas, which are remembered."""

    def __init__(self, settings: Settings) -> None:
        self.largest = settings.arguments.largest
        self.deepest = settings.arguments.deepest
        self.refuses_secrets = settings.arguments.secrets == "refuse"
        self._schemas: OrderedDict[str, tuple[SchemaChecks, int]] = OrderedDict()
        self._size = 0

    def prepare_checks(self, definition: Definition, fingerprint: Fingerprint, member: str) -> SchemaChecks:
        """Return the checks that a schema of a definition prescribes. `member`: where the schema is."""
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


class Arguments:
    """The parameters of one call, and what was found in them so far. `encoded`: the parameters as they are sent."""

    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self.params = params
        self.encoded = dumps(params)
        self.clear: bool | None = None
        """Whether a search of `encoded` showed at once that there is no secret in them; None before somebody asks."""
        self.found: FoundSecrets | None = None
        """The secrets in them; None as long as no rule has looked for any."""
        self.same: tuple[Fingerprint | None, bytes] | None = None
        """A digest that is the same for the same call, under the definition with this fingerprint."""
        self._compared: tuple[Fingerprint, Objection | None] | None = None
        self.beside: tuple[CallArgumentChecks, ServerState, Pin | None]
        """What the rules see them beside: the definition that is in force now. Nothing is checked before one asks."""

    @property
    def too_large(self) -> Detail | None:
        """How they exceed the limits of size or depth; None if they do not."""
        checks, _, _ = self.beside
        size, most = len(self.encoded), checks.largest
        if size > most:
            return Detail(path="$", expected=f"at most {most} bytes, not {size}")
        deepest = checks.deepest
        if self.encoded.count(b"{") + self.encoded.count(b"[") <= deepest:
            return None  # too few brackets to be nested that deeply
        return nested_too_deeply(self.params, deepest)

    @property
    def unfit(self) -> Objection | None:
        """How they differ from the definition in force; None if they do not."""
        _, _, pin = self.beside
        if self.method not in (CALL, GET) or pin is None or pin.listed is None:
            return None
        # A call is judged several times, and compared with one definition only once.
        compared = self._compared
        if compared is None or compared[0] != pin.listed:
            compared = self._compared = pin.listed, self._compare(pin, pin.listed)
        return compared[1]

    @property
    def secret(self) -> str | None:
        """The rule that found a secret that must not be sent on; None if there is none."""
        if self.found is None:
            self.clear = not may_hold_in_json(self.encoded)
            self.found = NOTHING if self.clear else find_secrets(self.params)
        return self.found.sure[0] if self.found.sure and self.beside[0].refuses_secrets else None

    def _compare(self, pin: Pin, fingerprint: Fingerprint) -> Objection | None:
        checking, known, _ = self.beside
        definition = known.definition(pin.kind, pin.name)
        if definition is None:
            return UNVERIFIABLE
        given = self.params.get("arguments")
        if self.method == GET:
            return check_prompt_arguments(given, definition)
        arguments = {} if given is None else given
        if not isinstance(arguments, dict):
            return NO_OBJECT
        checks = checking.prepare_checks(definition, fingerprint, "inputSchema")
        return checks.objection_to(arguments, len(self.encoded))
