"""Of a setting that carries trust, no more is in force than was confirmed, and no more than it says now."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcpguard.codec.demands import demand
from mcpguard.codec.globs import matcher
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.json import SettingValue
from mcpguard.settings.confirmation import (
    DEFAULTS,
    TRUSTED,
    looser_settings,
    settings_in_force,
    tighter_settings,
    trusted_values,
    with_values,
)
from mcpguard.settings.fields import public_values
from mcpguard.settings.layer import nest_keys
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
PATTERNS = st.lists(st.sampled_from(["*", "a*", "a?", "ab", "b"]), max_size=3, unique=True)
SCREENING = ["off", "note", "mask", "refuse"]
EFFECTS = ["read", "write", "destructive"]
MATCHED = ["", "a", "ab", "abc", "b", "c"]
REST = (
    "sandbox.scratch_bytes",
    "sandbox.file_bytes",
    "sandbox.open_files",
    "people.idle_seconds",
    "people.session_seconds",
    "people.recent_seconds",
    "retention.records",
    "retention.database_bytes",
    "retention.body_days",
)
LEAST_MEMORY = 16 * 1024 * 1024
KIND = CapabilityKind.TOOL
CALLS = [(effect, server, caller) for effect in Effect for server in "ab" for caller in "cd"]
VALUES = st.fixed_dictionaries(
    {
        "authority.shell": st.sampled_from(["full", "tighten"]),
        "authority.tokens": st.sampled_from(["full", "tighten"]),
        "arguments.secrets": st.sampled_from(["refuse", "note"]),
        "screening.mode": st.sampled_from(SCREENING),
        "screening.resemblance": st.sampled_from(["on", "off"]),
        "telemetry.otlp_endpoint": st.sampled_from([None, "http://a/", "http://b/"]),
        "public_url": st.sampled_from([None, "http://a", "http://b"]),
        "registry.public": st.booleans(),
        "holds.calls": st.lists(
            st.sampled_from(["any", "any of a", "write", "write of b by c"]), max_size=3, unique=True
        ),
        "upstreams.networks": NETWORKS,
        "proxies": NETWORKS.map(lambda networks: [*dict.fromkeys(networks)]),
        "upstreams.secret_folders": NAMES.map(lambda names: [f"/{name}" for name in names]),
        "hosts": NAMES,
        "code.enabled": st.booleans(),
        "anonymous.enabled": st.booleans(),
        "anonymous.servers": PATTERNS,
        "anonymous.tools": PATTERNS,
        "anonymous.effects": st.lists(st.sampled_from(EFFECTS), max_size=3),
        "sandbox.processes": st.sampled_from([8, 9, 10]),
        "sandbox.memory_bytes": st.sampled_from([LEAST_MEMORY, LEAST_MEMORY + 1]),
        "retention.record_days": st.sampled_from([None, 2, 5]),
        **{key: st.just(DEFAULTS[key]) for key in REST},
    }
)


def settings(values: dict[str, SettingValue]) -> Settings:
    return Settings.model_validate(nest_keys(values))


def _unheld(values: dict[str, SettingValue]) -> set[object]:
    """The calls that need no person."""
    phrases = [demand(str(each)) for each in values["holds.calls"] or []]  # type: ignore[union-attr]
    return {
        (effect, server, caller)
        for effect, server, caller in CALLS
        if not any(each.covers(Caller("", caller), Capability(server, KIND, "t"), effect) for each in phrases)
    }


def permitted(values: dict[str, SettingValue]) -> set[object]:
    """Everything that these settings let happen."""
    reached: set[object] = set()
    for key in ("upstreams.networks", "proxies"):
        networks = [ip_network(text) for text in values[key] or []]  # type: ignore[union-attr]
        reached |= {(key, address) for address in ADDRESSES if any(address in network for network in networks)}
    lists = ("hosts", "upstreams.secret_folders", "anonymous.effects")
    listed = {(key, each) for key in lists for each in values[key] or []}  # type: ignore[union-attr]
    reached |= _matched(values, "anonymous.servers") | _matched(values, "anonymous.tools")
    numbers = {"sandbox.processes": range(9, 11), "sandbox.memory_bytes": [LEAST_MEMORY + 1]}
    counted = {(key, each) for key, some in numbers.items() for each in some if int(str(values[key])) >= each}
    days = values["retention.record_days"]
    counted |= {("retention.record_days", each) for each in (2, 5) if isinstance(days, int) and days <= each}
    loose = {
        "authority.shell": "full",
        "authority.tokens": "full",
        "arguments.secrets": "note",
        "screening.resemblance": "off",
    }
    words = {*loose.items(), ("anonymous.enabled", True), ("registry.public", True)} & {*_plain(values)}
    sent = {(key, values[key]) for key in ("telemetry.otlp_endpoint", "public_url") if values[key]}
    looseness = SCREENING.index(str(values["screening.mode"]))
    unscreened = {("screening.mode", each) for each in SCREENING[looseness:-1]}
    return reached | listed | counted | words | unscreened | sent | _unheld(values)


def _plain(values: dict[str, SettingValue]) -> list[tuple[str, object]]:
    return [(key, value) for key, value in values.items() if isinstance(value, str | bool)]


def _matched(values: dict[str, SettingValue], key: str) -> set[object]:
    patterns = values[key]
    assert isinstance(patterns, list)
    return {(key, name) for name in MATCHED for pattern in patterns if matcher(pattern)(name)}


def test_every_setting_that_carries_trust_is_tried_here() -> None:
    sample = {key: SAMPLES[key][0] for key in TRUSTED}
    assert {*sample} == {*trusted_values(Settings())} == {*DEFAULTS}
    most = {("sandbox.processes", 9), ("sandbox.processes", 10), ("sandbox.memory_bytes", LEAST_MEMORY + 1)}
    anybody = {(f"anonymous.{which}", name) for which in ("servers", "tools") for name in MATCHED}
    anybody |= {("anonymous.enabled", True), ("anonymous.effects", "read")}  # type: ignore[arg-type]
    unscreened = {("screening.mode", "note"), ("screening.mode", "mask")}
    assert permitted({**DEFAULTS}) == {("authority.shell", "full"), *unscreened, *most, *anybody, *CALLS}


@given(VALUES, VALUES)
def test_what_is_in_force_is_what_both_let_happen(
    confirmed: dict[str, SettingValue], now: dict[str, SettingValue]
) -> None:
    found = settings(now)
    force = trusted_values(settings_in_force(found, confirmed))
    assert permitted(force) == permitted(confirmed) & permitted(now)
    assert looser_settings(confirmed, force) == ()


@given(VALUES, VALUES)
def test_a_setting_is_looser_if_it_lets_more_happen_and_tighter_if_less(
    confirmed: dict[str, SettingValue], now: dict[str, SettingValue]
) -> None:
    for key in TRUSTED:
        one, other = (
            permitted({**DEFAULTS, "authority.shell": "tighten", key: each[key]}) for each in (confirmed, now)
        )
        if not other <= one:
            assert key in looser_settings(confirmed, now)
        if not one <= other:
            assert key in tighter_settings(confirmed, now)
        if confirmed[key] == now[key]:
            assert key not in (*looser_settings(confirmed, now), *tighter_settings(confirmed, now))


@given(VALUES)
def test_what_was_confirmed_is_in_force_as_it_was_written(now: dict[str, SettingValue]) -> None:
    assume(len(set(now["upstreams.networks"])) == len(now["upstreams.networks"]))  # type: ignore[arg-type]
    found = settings(now)
    assert looser_settings(now, now) == tighter_settings(now, now) == ()
    assert settings_in_force(found, now) == found


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
        ("anonymous.enabled", True, False, False),
        ("anonymous.enabled", False, True, False),
        ("anonymous.effects", ["read"], ["read", "write"], ["read"]),
        ("anonymous.servers", ["*"], ["web", "files-*"], ["web", "files-*"]),
        ("anonymous.servers", ["web", "files-*"], ["*"], ["web", "files-*"]),
        ("anonymous.servers", ["web*"], ["*web"], []),
        ("anonymous.tools", ["tool:*"], ["*"], ["tool:*"]),
        ("anonymous.tools", ["re*"], ["resource:*"], []),
        ("anonymous.tools", ["*"], ["prompt:a", "b?"], ["prompt:a", "b?"]),
        ("holds.calls", ["destructive"], [], ["destructive"]),
        ("holds.calls", ["destructive"], ["write of web", "destructive"], ["write of web", "destructive"]),
        ("holds.calls", ["what nobody understands"], ["write"], ["write", "any"]),
        ("sandbox.processes", 100, 300, 100),
        ("sandbox.processes", 300, 100, 100),
        ("sandbox.processes", 2, 300, 8),
        ("telemetry.otlp_endpoint", None, "http://a/", None),
        ("telemetry.otlp_endpoint", "http://a/", "http://b/", None),
        ("telemetry.otlp_endpoint", "http://a/", "http://a/", "http://a/"),
        ("telemetry.otlp_endpoint", "http://a/", None, None),
        ("people.idle_seconds", 3600, 86_400, 3600),
        ("people.session_seconds", 86_400, 3600, 3600),
        ("people.recent_seconds", 900, 901, 900),
        ("retention.record_days", None, 365, None),
        ("retention.record_days", 365, None, None),
        ("retention.record_days", 365, 30, 365),
        ("retention.record_days", 30, 365, 365),
        ("retention.database_bytes", "much", 20_000_000, None),
    ],
)
def test_what_is_in_force(key: str, confirmed: SettingValue, now: SettingValue, force: SettingValue) -> None:
    made = settings_in_force(settings({key: now}), {key: confirmed})
    assert public_values(made)[key] == force
    assert made == with_values(settings({key: now}), {key: force})


@pytest.mark.parametrize("confirmed", [None, 5, "", "unheard of", ["not a network"], True])
def test_a_confirmed_value_that_nobody_can_read_lets_nothing_happen(confirmed: SettingValue) -> None:
    now: dict[str, SettingValue] = {"authority.shell": "full", "upstreams.networks": ["10.0.0.0/8"], "hosts": ["a"]}
    now["anonymous.enabled"] = confirmed is not True  # for this one, that can be read
    force = trusted_values(settings_in_force(settings(now), dict.fromkeys(TRUSTED, confirmed)))
    assert permitted(force) == set()


def test_what_was_never_confirmed_counts_as_confirmed_with_its_default() -> None:
    assert looser_settings({}, {"authority.shell": "full", "hosts": [], "upstreams.networks": ["10.0.0.0/8"]}) == (
        "upstreams.networks",
    )


def test_settings_that_carry_no_trust_are_in_force_as_they_are() -> None:
    large = ("sandbox.", "people.")
    found = Settings.model_validate(
        nest_keys({key: values[2] if key.startswith(large) else values[0] for key, values in SAMPLES.items()})
    )
    made = settings_in_force(found, {})
    assert made.store.url == found.store.url
    narrower = {"authority.shell", "holds.calls", "anonymous.enabled", "anonymous.servers", "anonymous.tools"}
    assert {key for key, value in public_values(made).items() if value != public_values(found)[key]} == {
        *TRUSTED
    } - narrower
