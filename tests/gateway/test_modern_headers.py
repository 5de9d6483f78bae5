"""What a self-contained request says of itself, compared with the MCP SDK, whose clients read the refusals."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from httptools import HttpRequestParser
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared import inbound

from mcpguard.codec import envelope
from mcpguard.gateway.http.exchange import HttpExchange
from mcpguard.gateway.http.modern import (
    STATUSES,
    check_version,
    duplicated_header,
    read_revision,
)
from mcpguard.gateway.http.plain import HttpRefusal
from mcpguard.gateway.identity import ConnectionEnds
from mcpguard.settings.address import OwnHosts
from tests.tiers import examples

VERSIONS = st.sampled_from([*envelope.MODERN, "2025-11-25", "2031-01-01", 7, None])
METHODS = st.sampled_from(["tools/call", "resources/read", "prompts/get", "tools/list"])
NAMES = st.sampled_from(["echo", "=?base64?ZWNobw==?=", "étage", "=?base64?w6l0YWdl?=", ""])
METAS: st.SearchStrategy[Any] = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            envelope.PROTOCOL: VERSIONS,
            envelope.CAPABILITIES: st.just({}),
            envelope.CLIENT: st.just({"name": "c", "version": "1"}),
        },
    ),
    st.fixed_dictionaries({envelope.PROTOCOL: st.just(envelope.MODERN[0]), envelope.CAPABILITIES: st.just({})}),
    st.sampled_from([None, [], "text"]),
)
PARAMS = st.one_of(
    st.none(), st.fixed_dictionaries({}, optional={"_meta": METAS, "name": NAMES, "uri": NAMES}), st.just({"_meta": {}})
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "mcp-protocol-version": VERSIONS.filter(lambda version: isinstance(version, str)),
        "mcp-method": METHODS,
        "mcp-name": NAMES.filter(str.isascii),
    },
)


Outcome = tuple[object, ...]


def ours(ask: Callable[[], object]) -> Outcome:
    """What we make of a request: who sent it, or how it is refused."""
    try:
        found = ask()
    except HttpRefusal as refusal:
        return refusal.status, refusal.code, refusal.data
    return (found,) if isinstance(found, str) else ()


def theirs(found: inbound.InboundModernRoute | inbound.InboundLadderRejection | None) -> Outcome:
    """What the SDK makes of it."""
    if isinstance(found, inbound.InboundLadderRejection):
        return inbound.ERROR_CODE_HTTP_STATUS[found.code], found.code, found.data
    return (found.protocol_version,) if found else ()


@settings(max_examples=examples(1000))
@given(METHODS, PARAMS, HEADERS, st.booleans())
def test_a_request_is_read_as_the_sdk_does(
    method: str, params: dict[str, Any] | None, headers: dict[str, str], honest: bool
) -> None:
    if honest:
        headers = {**headers, "mcp-protocol-version": envelope.MODERN[0], "mcp-method": method}
    expected = inbound.classify_inbound_request({"method": method, "params": params}, headers=headers)
    assert ours(lambda: read_revision(method, params, headers)) == theirs(expected)


@given(st.sampled_from([*envelope.MODERN, "", "2025-11-25"]))
def test_revisions_are_refused_as_the_sdk_does(version: str) -> None:
    assert ours(lambda: check_version(version)) == theirs(inbound.unsupported_protocol_version_rejection(version))


@given(st.lists(st.tuples(st.sampled_from(["mcp-name", "Mcp-Name", "mcp-method", "accept"]), st.just("a"))))
def test_headers_that_appear_twice_are_found_as_the_sdk_does(pairs: list[tuple[str, str]]) -> None:
    connection = SimpleNamespace(
        url=b"/mcp",
        headers=[(name.lower().encode(), value.encode()) for name, value in pairs],
        parser=HttpRequestParser(object()),
        flow=None,
        ends=ConnectionEnds(None, None),
        known_head=None,
        expect_100_continue=False,
    )
    exchange = HttpExchange(cast("Any", connection), OwnHosts(("127.0.0.1", 1), ()), 1, is_crowded=False)
    assert duplicated_header(exchange.twice) == inbound.find_duplicated_routing_header(pairs)


def test_errors_have_the_statuses_of_the_sdk() -> None:
    assert dict(STATUSES) == dict(inbound.ERROR_CODE_HTTP_STATUS)
