"""The values that are repeated in headers, compared with the MCP SDK, which other clients and servers use."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared import inbound

from mcpguard.codec.headers.header_values import NAMED_BY, decode_header, encode_header
from mcpguard.codec.headers.mirrored_arguments import PREFIX, argument_headers, disagreement, mirrored_arguments
from tests.tiers import examples

NAMES = st.sampled_from(["a", "b", "x-mcp-header", "properties", "type", "items"])
TOKENS = st.sampled_from(["Region", "region", "Tenant", "", "no token", "Überall", 7, None])
TYPES = st.sampled_from(["string", "integer", "boolean", "number", ["string"], None])
ANNOTATED = st.builds(lambda kind, token: {"type": kind, "x-mcp-header": token}, TYPES, TOKENS)
FITTING = st.builds(
    lambda kind, token: {"type": kind, "x-mcp-header": token},
    st.sampled_from(["string", "integer", "boolean"]),
    st.sampled_from(["Region", "Tenant", "Zone", "Number", "Flag"]),
)


def holding(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.dictionaries(NAMES, inner, max_size=3).map(lambda some: {"type": "object", "properties": some}),
        st.dictionaries(NAMES, inner, max_size=2).map(lambda some: {"$defs": some}),
        st.lists(inner, max_size=2).map(lambda some: {"anyOf": some}),
        inner.map(lambda one: {"items": one}),
        inner.map(lambda one: {"default": one}),
        inner,
    )


SCHEMAS = holding(
    st.recursive(st.one_of(ANNOTATED, FITTING, FITTING, st.just({"type": "string"})), holding, max_leaves=6)
)
WRITTEN = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["=?base64?YQ==?=", "=?base64?YR==?=", "=?base64?%?=", "=?base64?/w==?=", "42", "42.0", "042", " a", "true"]
    ),
)
VALUES = st.one_of(
    WRITTEN,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.just([1]),
    st.just(42),
)
ARGUMENTS = st.recursive(
    st.dictionaries(NAMES, VALUES, max_size=4), lambda inner: st.dictionaries(NAMES, st.one_of(VALUES, inner))
)


@settings(max_examples=examples(200))
@given(WRITTEN)
def test_a_value_is_written_and_read_as_the_sdk_does(value: str) -> None:
    written = encode_header(value)
    assert written == inbound.encode_header_value(value)
    assert decode_header(written) == value
    if value.isascii():
        assert decode_header(value) == inbound.decode_header_value(value)


def test_a_header_in_base64_that_is_not_ascii_has_no_value() -> None:
    assert decode_header("=?base64?é?=") is None


@settings(max_examples=examples(500))
@given(SCHEMAS, ARGUMENTS)
def test_arguments_are_repeated_as_the_sdk_does(schema: Any, arguments: dict[str, Any]) -> None:  # noqa: ANN401 - JSON
    mirrored = mirrored_arguments(schema)
    assert (mirrored is None) == (inbound.find_invalid_x_mcp_header(schema) is not None)
    if mirrored is not None:
        assert mirrored == inbound.x_mcp_header_map(schema)
        assert argument_headers(mirrored, arguments) == inbound.mcp_param_headers(mirrored, arguments)


@settings(max_examples=examples(500))
@given(
    st.dictionaries(NAMES, FITTING, max_size=3),
    ARGUMENTS,
    st.dictionaries(NAMES, WRITTEN.filter(str.isascii)),
    st.booleans(),
)
def test_headers_that_disagree_are_noticed_as_the_sdk_does(
    properties: dict[str, Any], arguments: dict[str, Any], changed: dict[str, str], honest: bool
) -> None:
    schema = {"type": "object", "properties": properties}
    mirrored = mirrored_arguments(schema) or {}
    sent = {name.lower(): value for name, value in argument_headers(mirrored, arguments).items()} if honest else {}
    sent |= {f"{PREFIX}{token}".lower(): changed[path[0]] for path, token in mirrored.items() if path[0] in changed}
    rejection = inbound.validate_mcp_param_headers(schema, arguments, sent)
    assert (disagreement(schema, arguments, sent) is None) == (rejection is None)


@pytest.mark.parametrize(
    ("argument", "header"), [(42, "42.0"), (42.0, "42"), (2**60 + 1, f"{2**60 + 1}.0"), (1e22, "1e+22")]
)
def test_an_integer_agrees_with_its_other_spellings(argument: float, header: str) -> None:
    schema = {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}
    assert disagreement(schema, {"n": argument}, {"mcp-param-n": header}) is None
    assert disagreement(schema, {"n": argument}, {"mcp-param-n": "43"}) is not None


def test_an_integer_that_is_too_long_to_be_written_is_not_repeated() -> None:
    schema = {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}
    assert argument_headers({("n",): "N"}, {"n": 10**5000}) == {}
    assert disagreement(schema, {"n": 10**5000}, {}) is None
    assert disagreement(schema, {"n": 10**5000}, {"mcp-param-n": "1"}) is not None


def test_the_methods_that_repeat_a_name_are_the_sdks() -> None:
    assert dict(NAMED_BY) == dict(inbound.NAME_BEARING_METHODS)
    assert PREFIX == inbound.MCP_PARAM_HEADER_PREFIX
