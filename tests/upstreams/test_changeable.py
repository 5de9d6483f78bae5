"""Who but root and the guard's account can change what lies at a path."""

import grp
import os
import pwd
import struct
from pathlib import Path

import pytest

from mcpguard.upstreams.process.changeable_files import find_addable, find_changeable

OWN = pwd.struct_passwd(("me", "x", os.geteuid(), os.getegid(), "", "/", ""))
OTHER = pwd.struct_passwd(("other", "x", 4999, 4999, "", "/", ""))
ROOT = pwd.struct_passwd(("root", "x", 0, 0, "", "/", ""))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    (tmp_path / "file").touch(0o644)
    (tmp_path / "file").chmod(0o644)
    assert find_changeable(tmp_path / "file") is None, "the tests' folder is their own"
    return tmp_path / "file"


def has(monkeypatch: pytest.MonkeyPatch, group: tuple[str, tuple[str, ...]], *accounts: pwd.struct_passwd) -> None:
    """The machine has this group under the number of the guard's own, and these accounts."""
    name, members = group
    monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group((name, "x", number, list(members))))
    monkeypatch.setattr(pwd, "getpwall", lambda: list(accounts))


@pytest.mark.parametrize(("mode", "open_to_all"), [(0o755, False), (0o777, True), (0o1777, False), (0o757, True)])
def test_a_folder_above_counts_unless_names_in_it_stay_their_owners(file: Path, mode: int, open_to_all: bool) -> None:
    file.parent.chmod(mode)
    found = find_changeable(file)
    assert (found is not None) is open_to_all
    if found:
        assert str(found) == f"{file.parent} is writable by everyone (chmod go-w {file.parent})"


@pytest.mark.parametrize(
    ("group", "accounts", "who"),
    [
        (("me", ()), (ROOT, OWN), ""),
        (("me", ("me",)), (ROOT, OWN, OTHER), ""),
        (("me", ("other",)), (ROOT, OWN, OTHER), "group me"),
    ],
)
def test_a_group_without_others_is_nobody_elses(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    group: tuple[str, tuple[str, ...]],
    accounts: tuple[pwd.struct_passwd, ...],
    who: str,
) -> None:
    has(monkeypatch, group, *accounts)
    file.parent.chmod(0o775)
    found = find_changeable(file)
    assert (found.why if found else "") == (f"is writable by {who}" if who else "")


def test_who_has_it_as_their_first_group_is_in_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = pwd.struct_passwd(("other", "x", 4999, file.stat().st_gid, "", "/", ""))
    has(monkeypatch, ("me", ()), ROOT, OWN, shares)
    file.chmod(0o664)
    found = find_changeable(file)
    assert found
    assert str(found) == f"{file} is writable by group me (chmod g-w {file})"


def test_an_access_list_may_let_others_in(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, ("me", ()), ROOT, OWN)
    file.chmod(0o664)
    assert find_changeable(file) is None
    nobody = 0xFFFFFFFF
    entries = ((0x01, 6, nobody), (0x02, 6, 4999), (0x04, 6, nobody), (0x10, 6, nobody), (0x20, 4, nobody))
    listed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(file, "system.posix_acl_access", listed)
    found = find_changeable(file)
    assert found
    assert found.why == "is writable by accounts in its access list"


def test_where_a_folder_is_not_yet_the_one_above_decides(file: Path) -> None:
    missing = file.parent / "new" / "newer"
    assert find_addable(missing) is None
    file.parent.chmod(0o1777)
    found = find_addable(missing)
    assert found, "anybody may make it"
    assert found.path == file.parent
