"""Of a setting that carries trust, no more is in force than was confirmed, and no more than it says now."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcpguard.settings.confirmation import DEFAULTS, TRUSTED, carrying_trust, in_force, looser, tighter, with_values
from mcpguard.settings.fields import Json, public
from mcpguard.settings.layer import nested
from mcpguard.settings.model import Settings
from tests.settings.samples import SAMPLES

NETWORKS = st.lists(
    st.builds(
        lambda at, length: str(ip_network((at, length), strict=False)), st.sampled_from(range(64)), st.integers(26, 32)
    )
    | st.just("::/126")
    | st.just("::1/128"),
    max_size=3,
)
ADDRESSES = [ip_address(at) for at in range(64)] + [ip_address(f"::{at}") for at in range(4)]
NAMES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3)
VALUES = st.fixed_dictionaries(
    {
        "authority.shell": st.sampled_from(["full", "tighten"]),
        "upstreams.networks": NETWORKS,
        "upstreams.secret_folders": NAMES.map(lambda names: [f"/{name}" for name in names]),
        "hosts": NAMES,
    }
)


def settings(values: dict[str, Json]) -> Settings:
    return Settings.model_validate(nested(values))


def permitted(values: dict[str, Json]) -> set[object]:
    """Everything that these settings let happen."""
    networks = [ip_network(text) for text in values["upstreams.networks"] or []]  # type: ignore[union-attr]
    reached = {str(address) for address in ADDRESSES if any(address in network for network in networks)}
    listed = {(key, each) for key in ("hosts", "upstreams.secret_folders") for each in values[key] or []}  # type: ignore[union-attr]
    return reached | listed | ({"full"} if values["authority.shell"] == "full" else set())


def test_every_setting_that_carries_trust_is_tried_here() -> None:
    sample = {key: SAMPLES[key][0] for key in TRUSTED}
    assert {*sample} == {*carrying_trust(Settings())} == {*DEFAULTS}
    assert permitted({**DEFAULTS}) == {"full"}


@given(VALUES, VALUES)
def test_what_is_in_force_is_what_both_let_happen(confirmed: dict[str, Json], now: dict[str, Json]) -> None:
    found = settings(now)
    force = carrying_trust(in_force(found, confirmed))
    assert permitted(force) == permitted(confirmed) & permitted(now)
    assert looser(confirmed, force) == ()


@given(VALUES, VALUES)
def test_a_setting_is_looser_if_it_lets_more_happen_and_tighter_if_less(
    confirmed: dict[str, Json], now: dict[str, Json]
) -> None:
    for key in TRUSTED:
        one, other = (
            permitted({**DEFAULTS, "authority.shell": "tighten", key: each[key]}) for each in (confirmed, now)
        )
        if not other <= one:
            assert key in looser(confirmed, now)
        if not one <= other:
            assert key in tighter(confirmed, now)
        if confirmed[key] == now[key]:
            assert key not in (*looser(confirmed, now), *tighter(confirmed, now))


@given(VALUES)
def test_what_was_confirmed_is_in_force_as_it_was_written(now: dict[str, Json]) -> None:
    assume(len(set(now["upstreams.networks"])) == len(now["upstreams.networks"]))  # type: ignore[arg-type]
    found = settings(now)
    assert looser(now, now) == tighter(now, now) == ()
    assert in_force(found, now) == found


@pytest.mark.parametrize(
    ("key", "confirmed", "now", "force"),
    [
        ("authority.shell", "tighten", "full", "tighten"),
        ("authority.shell", "full", "tighten", "tighten"),
        ("upstreams.networks", [], ["10.0.0.0/8"], []),
        ("upstreams.networks", ["10.0.0.0/8"], ["0.0.0.0/0"], ["10.0.0.0/8"]),
        ("upstreams.networks", ["10.0.0.0/8"], ["10.1.0.0/16"], ["10.1.0.0/16"]),
        ("upstreams.networks", ["10.0.0.0/8", "fd00::/8"], ["127.0.0.0/8", "fd00::/8"], ["fd00::/8"]),
        ("upstreams.networks", ["::/0"], ["0.0.0.0/0"], []),
        ("upstreams.secret_folders", ["/a"], ["/a", "/a/b", "/b"], ["/a"]),
        ("hosts", ["a", "b"], ["b", "c"], ["b"]),
    ],
)
def test_what_is_in_force(key: str, confirmed: Json, now: Json, force: Json) -> None:
    made = in_force(settings({key: now}), {key: confirmed})
    assert public(made)[key] == force
    assert made == with_values(settings({key: now}), {key: force})


@pytest.mark.parametrize("confirmed", [None, 5, "", "unheard of", ["not a network"], True])
def test_a_confirmed_value_that_nobody_can_read_lets_nothing_happen(confirmed: Json) -> None:
    now: dict[str, Json] = {"authority.shell": "full", "upstreams.networks": ["10.0.0.0/8"], "hosts": ["a"]}
    force = carrying_trust(in_force(settings(now), dict.fromkeys(TRUSTED, confirmed)))
    assert permitted(force) == set()


def test_what_was_never_confirmed_counts_as_confirmed_with_its_default() -> None:
    assert looser({}, {"authority.shell": "full", "hosts": [], "upstreams.networks": ["10.0.0.0/8"]}) == (
        "upstreams.networks",
    )


def test_settings_that_carry_no_trust_are_in_force_as_they_are() -> None:
    found = Settings.model_validate(nested({key: values[0] for key, values in SAMPLES.items()}))
    made = in_force(found, {})
    assert made.store.url == found.store.url
    assert {key for key, value in public(made).items() if value != public(found)[key]} == {*TRUSTED} - {
        "authority.shell"
    }
