"""The launch identity of a declared server: a secret that is rotated leaves it as it is, anything else does not."""

import dataclasses
from collections.abc import Mapping

import pytest

from mcpguard.codec.fingerprints import launch_fingerprint
from mcpguard.domain.errors import Unreadable
from mcpguard.domain.servers.identity import PartKind
from mcpguard.domain.servers.launches import Launch, Mount, Profile, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.identity import Unidentifiable, launch_identity

KEY = b"k" * 32
WRITTEN_OUT = "correct-horse-battery"
STDIO = StdioLaunch("uvx", ("a", "b"), {"TOKEN": "${env:TOKEN}", "MODE": "fast"}, "/srv")
REMOTE = RemoteLaunch(Transport.HTTP, "https://a.example/mcp", {"Authorization": "Bearer ${file:/run/token}"})


def same(*launches: Launch) -> bool:
    return len({launch_fingerprint(launch_identity(each, KEY)) for each in launches}) == 1


def with_variables(variables: Mapping[str, str]) -> StdioLaunch:
    return dataclasses.replace(STDIO, environment=variables)


def test_the_environment_of_the_guard_has_no_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = launch_fingerprint(launch_identity(STDIO, KEY))
    monkeypatch.setenv("TOKEN", "another")
    assert launch_fingerprint(launch_identity(STDIO, KEY)) == before


def test_only_order_that_means_nothing_is_no_difference() -> None:
    assert same(STDIO, with_variables({"MODE": "fast", "TOKEN": "${env:TOKEN}"}))
    assert not same(STDIO, dataclasses.replace(STDIO, arguments=("b", "a")))


@pytest.mark.parametrize(
    "variables",
    [
        {"TOKEN": "${env:TOKEN}"},
        {"TOKEN": "${env:TOKEN}", "MODE": "fast "},
        {"TOKEN": "${env:TOKEN2}", "MODE": "fast"},
        {"TOKEN": "${file:/TOKEN}", "MODE": "fast"},
        {"TOKEN": "x${env:TOKEN}", "MODE": "fast"},
        {"TOKEN": "${env:TOKEN}x", "MODE": "fast"},
        {"TOKEN": "fast", "MODE": "${env:TOKEN}"},
        {"TOKEN": "${env:TOKEN}", "mode": "fast"},
        {"TOKEN": "", "MODE": "fast"},
        {"TOKEN": "${env:TOKEN}", "MODE": "fast", "MORE": ""},
    ],
)
def test_any_other_template_is_another_identity(variables: Mapping[str, str]) -> None:
    assert not same(STDIO, with_variables(variables))


def test_what_was_written_out_is_in_no_representation() -> None:
    for launch in (
        with_variables({"TOKEN": WRITTEN_OUT, "BOTH": f"{WRITTEN_OUT}${{env:A}}{WRITTEN_OUT}", "AGAIN": WRITTEN_OUT}),
        dataclasses.replace(REMOTE, headers={"Authorization": WRITTEN_OUT}),
    ):
        made = launch_identity(launch, KEY)
        digests = [
            part.text
            for each in made.environment + made.headers
            for part in each.parts
            if part.kind is PartKind.LITERAL
        ]
        assert WRITTEN_OUT not in repr(made)
        assert len(set(digests)) == len(digests) > 0, "nor does it show that two are the same"
        assert made != launch_identity(launch, KEY[1:] + b"x")


def test_headers_have_no_case_and_urls_are_taken_as_they_are() -> None:
    assert same(REMOTE, dataclasses.replace(REMOTE, headers={"AUTHORIZATION": "Bearer ${file:/run/token}"}))
    assert not same(REMOTE, dataclasses.replace(REMOTE, headers={"Authorization": "Bearer  ${file:/run/token}"}))
    assert not same(REMOTE, dataclasses.replace(REMOTE, url="https://a.example/mcp/"))
    assert not same(REMOTE, dataclasses.replace(REMOTE, transport=Transport.SSE))


def test_the_sandbox_is_part_of_it() -> None:
    made = [launch_identity(dataclasses.replace(STDIO, profile=profile), KEY) for profile in Profile]
    made += [
        launch_identity(dataclasses.replace(STDIO, mounts=(Mount("/a", writable),)), KEY) for writable in (True, False)
    ]
    assert len({launch_fingerprint(each) for each in made}) == 5
    assert same(STDIO, dataclasses.replace(STDIO, profile=Profile.STRICT, mounts=())), "unless it says otherwise"


def test_consent_is_another_identity_and_the_same_as_one_that_was_declared_so() -> None:
    declared_so = dataclasses.replace(STDIO, profile=Profile.NONE)
    assert not same(STDIO, STDIO.without_sandbox())
    assert same(declared_so, STDIO.without_sandbox())
    assert same(STDIO, STDIO.without_sandbox().as_declared())


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "PATH", "npm_config_registry", "http_proxy"]
)
def test_code_must_be_written_out(name: str) -> None:
    assert not same(with_variables({name: "/a"}), with_variables({name: "/b"}))
    for template in ("${env:X}", "/a:${env:X}", "${file:/x}"):
        with pytest.raises(Unidentifiable, match=f"{name} decides what code runs"):
            launch_identity(with_variables({name: template}), KEY)


def test_a_template_that_cannot_be_read_has_no_identity() -> None:
    with pytest.raises(Unidentifiable) as refused:
        launch_identity(with_variables({"A": f"{WRITTEN_OUT}${{oops}}"}), KEY)
    assert WRITTEN_OUT not in str(refused.value)
    with pytest.raises(Unreadable):
        launch_identity(with_variables({"A": "\ud800"}), KEY)
    with pytest.raises(Unreadable):
        launch_fingerprint(launch_identity(dataclasses.replace(STDIO, command="\ud800"), KEY))
