"""The unit of the documentation is one that systemd takes, and the page shows the same bytes."""

from pathlib import Path

import pytest

from tests.deploying.units import complaints
from tests.documents import DOCS

UNIT = DOCS / "deploying" / "mcpguard.service"


def test_systemd_has_nothing_to_say_about_it() -> None:
    assert complaints(UNIT) == ""


def test_the_page_shows_the_same_bytes() -> None:
    assert f"```ini\n{UNIT.read_text()}```\n" in (DOCS / "deploying.md").read_text()


@pytest.mark.parametrize(
    ("is_there", "instead"),
    [("Restart=on-failure", "Restart=sometimes"), ("UMask=", "Umask="), ("/opt/mcpguard/bin/mcpguard", "/opt/nobody")],
)
def test_what_is_wrong_in_a_unit_is_found(is_there: str, instead: str, tmp_path: Path) -> None:
    changed = tmp_path / "mcpguard.service"
    changed.write_text(UNIT.read_text().replace(is_there, instead))
    assert changed.read_text() != UNIT.read_text()
    assert complaints(changed) != ""


def test_nothing_that_keeps_a_sandbox_from_working_is_set() -> None:
    """Each of these takes something that bubblewrap needs: namespaces, system calls, a name, or its own `/proc`."""
    set_there = {line.partition("=")[0] for line in UNIT.read_text().splitlines()}
    broken = {"RestrictNamespaces", "PrivateUsers", "SystemCallFilter", "ProtectHostname", "ProtectKernelTunables"}
    assert set_there.isdisjoint(broken)
