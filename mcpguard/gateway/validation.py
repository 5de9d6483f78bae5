"""Checks that a request has exactly the form of its method in the client's revision. No value is repeated.

The forms are the MCP SDK's. They are loaded for the first request, as they take as long to load as half a start.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from anyio import to_thread
from pydantic import ValidationError

from mcpguard.catalog.catalog import Catalog
from mcpguard.codec import envelope
from mcpguard.codec.members import ALWAYS_KNOWN, TASK, unknown_member
from mcpguard.codec.uris import LONGEST_URI
from mcpguard.domain.errors import InvalidName
from mcpguard.gateway.wire import INVALID_PARAMS, METHOD_NOT_FOUND, RequestRejected
from mcpguard.slow_libraries import freeze_loaded
from mcpguard.text.visible import visible

LONGEST_NAME = 1024
MOST_ERRORS = 100
T = TypeVar("T")
Params = Mapping[str, Any]
Check = Callable[[str, str, Params], None]


class RequestForms:
    """The forms of requests. Whoever handles a request has them loaded first, in a thread, so that nobody waits."""

    def __init__(self) -> None:
        self.check: Check | None = None

    async def load(self) -> None:
        self.check = await to_thread.run_sync(_loaded)
        freeze_loaded()


FORMS: Final = RequestForms()


def _loaded() -> Check:
    from mcp_types.methods import validate_client_request  # noqa: PLC0415 - see above

    return validate_client_request


def validate(method: str, version: str, params: Params) -> None:
    """Raise RequestRejected for a request of another form. The forms have to be loaded."""
    if method == "shutdown" and version in envelope.HANDSHAKE:
        return  # no method of any revision, but older clients say it
    wrong = ""
    check = FORMS.check or _loaded()
    try:
        check(method, version, params)
    except KeyError:
        raise unknown_method() from None
    except ValidationError as error:
        wrong = f"invalid parameters for {method}: {_where(error)}"
    known = ALWAYS_KNOWN.get(method)
    if known is None or not params.keys() <= known:
        name = unknown_member(method, version, params)
        wrong = wrong if name is None else _beside(method, name)
    if wrong:
        raise invalid_parameters(wrong)


def fitting_name(name: str) -> str:
    """Return a client's name for something, unless it is too long. Raises RequestRejected."""
    if len(name) > LONGEST_NAME:
        raise too_long_name()
    return name


def too_long_name() -> RequestRejected:
    return invalid_parameters(f"a name has at most {LONGEST_NAME} characters")


def resolve_uri(find: Callable[[Catalog, str], T], catalog: Catalog, uri: str) -> T:
    """Return what a client means by a URI. Raises RequestRejected."""
    if len(uri) > LONGEST_URI:
        raise invalid_parameters(f"a URI has at most {LONGEST_URI} characters")
    try:
        return find(catalog, uri)
    except InvalidName as error:
        raise invalid_parameters(str(error)) from None


def _beside(method: str, name: str) -> str:
    if name == TASK:
        return "task: calls as tasks are not supported; call without it"
    return f"{method} has no parameter {visible(name[:200])} in this protocol version"


def _where(error: ValidationError) -> str:
    """Return the place of the first error; with very many errors, finding it would take too long."""
    if error.error_count() > MOST_ERRORS:
        return "most of them"
    parts = (str(part) for part in error.errors(include_input=False)[0]["loc"] if part != "params")
    return visible(".".join(parts)[:200])


def unknown_method() -> RequestRejected:
    return RequestRejected(METHOD_NOT_FOUND, "unknown method in this protocol version", "method")


def invalid_parameters(sentence: str) -> RequestRejected:
    return RequestRejected(INVALID_PARAMS, sentence, "parameters")
