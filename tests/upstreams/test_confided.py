"""What servers are given is remembered in memory, so that it can be hidden wherever they say it."""

import pytest

from mcpguard.policy.secrets.masking import mask_secrets
from mcpguard.settings.entries.references import ResolvedValue, resolve_parts
from mcpguard.upstreams.process.given_secrets import MOST, GivenSecrets, secrets


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("${env:KEY}", {"hunter2"}),
        ("Bearer ${env:KEY}", {"hunter2", "Bearer hunter2"}),
        ("${env:KEY}:${env:PIN}", {"hunter2", "1234", "hunter2:1234"}),
        ("Token s3cret-word", {"Token s3cret-word", "s3cret-word"}),
        ("production", set()),
        ("8080", set()),
        ("on", set()),
        ("${env:SHORT}", set()),
    ],
)
def test_what_may_be_a_secret_is_taken_for_one(template: str, found: set[str]) -> None:
    environ = {"KEY": "hunter2", "PIN": "1234", "SHORT": "abc"}
    assert {*secrets(resolve_parts(template, environ, []))} == found


def test_what_was_given_before_is_hidden_still_and_the_rest_of_other_servers_is_not() -> None:
    confided = GivenSecrets()
    for number in range(3):
        confided.take("web", {"KEY": ResolvedValue(f"value-{number}", (f"value-{number}",))})
    assert mask_secrets("value-0 value-1 value-2", confided.ways["web"]).value == "(hidden) (hidden) (hidden)"
    assert "other" not in confided.ways
    assert "value" not in repr(confided)


def test_only_so_many_are_remembered() -> None:
    confided = GivenSecrets()
    for number in range(MOST + 5):
        confided.take("web", {"KEY": ResolvedValue(f"value-{number:04}")})
    assert mask_secrets(f"value-0000 value-{MOST + 4:04}", confided.ways["web"]).value == "value-0000 (hidden)"


def test_what_agents_are_not_shown_is_what_surely_tells_a_secret_and_was_given_last() -> None:
    confided = GivenSecrets()
    environ = {"KEY": "a8Kd93jjs0", "PLACE": "production"}
    given = {
        "HEADER": resolve_parts("Bearer ${env:KEY}", environ, []),
        "WHERE": resolve_parts("${env:PLACE}", environ, []),
        "PASSWORD": resolve_parts("correct horse", environ, []),
    }
    confided.take("web", given)
    assert {"a8Kd93jjs0", "correct horse"} <= confided.certain["web"].values
    assert "production" not in confided.certain["web"].values
    confided.take("web", {"WHERE": given["WHERE"]})
    assert confided.certain["web"].values == frozenset()
    assert mask_secrets("a8Kd93jjs0", confided.ways["web"]).value == "(hidden)", (
        "and it is still masked in what is stored"
    )
