"""Which calls an allowance covers, by their digests."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.allowances import Allowance, CallParts
from mcpguard.domain.calls.holds import HoldBasis
from mcpguard.domain.capabilities import Capability, CapabilityKind

NAMES = st.sampled_from(["a", "b", "c", ""])
DIGESTS = st.sampled_from(["x", "y"])
ARGUMENTS = st.dictionaries(NAMES, DIGESTS)
ONE = Allowance(
    "one", "t", "c", "desk", Capability("web", CapabilityKind.TOOL, "echo"), HoldBasis(("u", 1), ("p", 2)),
    "v1:0", "read", CallParts(), (), 9, 3, 1, "ada", "fine",
)  # fmt: skip


@given(ARGUMENTS, st.sets(NAMES), ARGUMENTS, DIGESTS)
def test_it_covers_exactly_the_same_names_and_the_same_values_of_what_is_not_open(
    seen: dict[str, str], open_: set[str], call: dict[str, str], rest: str
) -> None:
    same = {name: digest for name, digest in seen.items() if name not in open_}
    allowance = replace(ONE, same=CallParts(same, "x"), open=tuple(sorted(open_ & seen.keys())))
    assert allowance.covers(CallParts(seen, "x")), "always the call that was seen"
    expected = rest == "x" and call.keys() == seen.keys() and all(call[name] == seen[name] for name in same)
    assert allowance.covers(CallParts(call, rest)) == expected
