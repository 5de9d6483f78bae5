"""`kind:name`, however many colons the name holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.capability_keys import parse_key, write_key
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName


@given(st.sampled_from(CapabilityKind), st.text(min_size=1))
def test_what_is_written_is_read_as_what_it_was(kind: CapabilityKind, name: str) -> None:
    assert parse_key(write_key((kind, name))) == (kind, name)


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("tool:echo", CapabilityKind.TOOL, "echo"),
        ("resource:file:///a:b", CapabilityKind.RESOURCE, "file:///a:b"),
        ("template:note://{name}", CapabilityKind.TEMPLATE, "note://{name}"),
        ("tool::", CapabilityKind.TOOL, ":"),
        ("prompt:tool:x", CapabilityKind.PROMPT, "tool:x"),
        ("instructions:instructions", CapabilityKind.INSTRUCTIONS, "instructions"),
    ],
)
def test_the_kind_ends_at_the_first_colon(text: str, kind: CapabilityKind, name: str) -> None:
    assert parse_key(text) == (kind, name)


@pytest.mark.parametrize("text", ["", "echo", ":", ":echo", "tool", "tool:", "Tool:echo", " tool:echo", "tools:echo"])
def test_what_names_no_capability_is_refused(text: str) -> None:
    with pytest.raises(InvalidName, match="write a capability as kind:name"):
        parse_key(text)
