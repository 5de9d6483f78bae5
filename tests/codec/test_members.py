"""Which members a request has in each revision; whatever is beside them is named."""

from typing import Any

import pytest

from mcpguard.codec.envelope import HANDSHAKE, MODERN
from mcpguard.codec.members import MEMBERS, unknown_member

CONTEXT: dict[str, Any] = {"ref": {}, "argument": {}, "context": {"arguments": {}}}


@pytest.mark.parametrize("version", [*HANDSHAKE, *MODERN])
def test_what_a_later_revision_has_is_unknown_to_an_earlier_one(version: str) -> None:
    has_context = version >= "2025-06-18"
    assert unknown_member("completion/complete", version, CONTEXT) == (None if has_context else "context")
    for method, name in (("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")):
        for member in ("inputResponses", "requestState"):
            expected = None if version in MODERN else member
            assert unknown_member(method, version, {name: "x", member: {}}) == expected


@pytest.mark.parametrize("method", MEMBERS)
def test_what_no_revision_has_is_named_wherever_it_stands(method: str) -> None:
    for version in (*HANDSHAKE, *MODERN):
        assert unknown_member(method, version, {"_meta": {"anything": 1}}) is None
        assert unknown_member(method, version, {"_meta": {}, "mode": 1}) == "mode"
    assert unknown_member("completion/complete", MODERN[-1], CONTEXT | {"ref": {"mode": 1}}) == "ref.mode"
