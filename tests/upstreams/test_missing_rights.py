"""What the sandbox misses is told together with the option that gives it, for the place where the guard runs."""

from pathlib import Path

import pytest

from mcpguard.upstreams.sandbox.missing_rights import KUBERNETES, MARKS, is_in_container, missing_right

SECCOMP, PROC = (
    "bwrap: Can't set hostname to sandbox: Operation not permitted",
    "bwrap: Can't mount proc on /newroot/proc",
)


@pytest.mark.parametrize(
    ("said", "contained", "option"),
    [
        (SECCOMP, True, "--security-opt seccomp=unconfined"),
        ("bwrap: No permissions to create a new namespace", True, "seccompProfile: {type: Unconfined}"),
        (PROC, True, "--security-opt systempaths=unconfined"),
        (PROC, True, "procMount: Unmasked"),
        ("bwrap: setting up uid map: Permission denied", False, "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: Creating new namespace failed", False, "kernel.unprivileged_userns_clone=1"),
        (PROC, False, "/proc"),
    ],
)
def test_the_option_that_is_missing_is_named(said: str, contained: bool, option: str) -> None:
    assert option in missing_right(said, contained=contained)


@pytest.mark.parametrize("said", ["exit code 1", "bwrap: execvp cat: No such file or directory", ""])
def test_what_has_another_reason_gets_no_wrong_advice(said: str) -> None:
    assert missing_right(said, contained=True) == missing_right(said, contained=False) == ""


@pytest.mark.parametrize("mark", MARKS)
def test_a_container_is_known_by_the_file_of_its_engine(tmp_path: Path, mark: str) -> None:
    assert not is_in_container(tmp_path)
    place = tmp_path / mark.lstrip("/")
    place.parent.mkdir(exist_ok=True)
    place.touch()
    assert is_in_container(tmp_path)


def test_a_pod_is_known_by_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KUBERNETES, "10.0.0.1")
    assert is_in_container(tmp_path)
