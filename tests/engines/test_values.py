"""Whatever JSON goes in as input comes out as the value, and goes through a call unchanged."""

import json
from pathlib import Path
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.engines.python.plain_values import NotPlain, plain_json
from tests.engines.running import engines, value_of
from tests.tiers import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary(max_size=3) | st.sets(st.integers()),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(TEXTS | st.integers(), inner, max_size=5),
    max_leaves=20,
)
LEAVES = 400
"""Values of one run: starting a worker takes longer than all of them."""


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(JSON, min_size=LEAVES // 40, max_size=LEAVES // 8))
def test_what_goes_in_comes_out(values: list[Any], tmp_path: Path) -> None:
    async def there_and_back() -> Any:  # noqa: ANN401 - JSON
        async with engines(tmp_path) as running:
            return await value_of(running, "[input, call_tool('a', 'b', {'x': input})['result']['x']]", values)

    came = anyio.run(there_and_back)
    assert exact(came) == exact([values, values])


@settings(max_examples=examples(2000))
@given(value=ANYTHING, most=st.integers(0, 200))
def test_what_is_written_is_json_and_within_its_limit(value: object, most: int) -> None:
    try:
        written = plain_json(value, most)
    except NotPlain:
        try:
            plain = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
        except (TypeError, ValueError):
            return
        assert len(plain) > most or not all_keys_are_strings(value)
        return
    assert len(written) <= most
    assert exact(json.loads(written)) == exact(json.loads(json.dumps(value)))


def exact(value: object) -> str:
    """Distinguishes 1 from 1.0 and from true."""
    return json.dumps(value)


def all_keys_are_strings(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and all_keys_are_strings(each) for key, each in value.items())
    return not isinstance(value, list | tuple) or all(map(all_keys_are_strings, value))
