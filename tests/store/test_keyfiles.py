"""A crash or a full disk, at whatever moment a key is made, leaves the key or none: the next start makes one."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.guard.calls import kept_bodies
from mcpguard.ledger import keys
from mcpguard.store.files import seals
from tests.store.full import file_size_limit

MADE: dict[str, Callable[[Path], object]] = {
    "audit.key": keys.load_or_make,
    "digest.key": kept_bodies.load_or_make_digests,
    "seal.key": seals.load_or_make,
}
MAKING = {
    "audit.key": "from mcpguard.ledger.keys import load_or_make",
    "digest.key": "from mcpguard.guard.calls.kept_bodies import load_or_make_digests as load_or_make",
    "seal.key": "from mcpguard.store.files.seals import load_or_make",
}
KILLED = {
    "before anything is written": "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
    "when a half is written": "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))",
    "before it has its name": "sys.addaudithook(at_the_name)",
}
"""The kernel kills whoever writes beyond a limit and does not want to hear of it."""
PROGRAM = """
import os, resource, signal, sys
from pathlib import Path
{importing}

def at_the_name(event, about):
    if event == "os.rename":
        os.kill(os.getpid(), signal.SIGXFSZ)

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
{killing}
load_or_make(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("moment", KILLED)
def test_a_kill_while_it_is_made_leaves_none(tmp_path: Path, name: str, moment: str) -> None:
    file = tmp_path / name
    program = PROGRAM.format(importing=MAKING[name], killing=KILLED[moment])
    ended = subprocess.run([sys.executable, "-c", program, file], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGXFSZ, ended.stderr
    assert not file.exists()
    MADE[name](file)
    assert [*tmp_path.iterdir()] == [file], "and nothing that has a key in it is left beside it"
    assert file.stat().st_mode & 0o777 == 0o600
    content = file.read_bytes()
    MADE[name](file)
    assert file.read_bytes() == content


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("room", [0, 10])
def test_a_full_disk_leaves_none_and_is_told(tmp_path: Path, name: str, room: int) -> None:
    file = tmp_path / name
    with file_size_limit(room), pytest.raises(StoreUnavailable, match=f"{name} cannot be created"):
        MADE[name](file)
    assert not [*tmp_path.iterdir()]
    MADE[name](file)
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("name", MADE)
def test_a_link_that_leads_nowhere_is_not_replaced(tmp_path: Path, name: str) -> None:
    """Where the disk with the keys was not mounted, another key would come in the place of the real one."""
    file = tmp_path / name
    file.symlink_to(tmp_path / "not mounted" / name)
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        MADE[name](file)
    assert file.is_symlink()
