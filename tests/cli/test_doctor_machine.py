"""`mcpguard doctor` where something is wrong with the machine: each thing is broken for real."""

import os
import pwd
import resource
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mcpguard.cli.doctor import clock, disk
from mcpguard.cli.doctor.disk import file_system
from mcpguard.ledger import keys
from tests.app.certificates import pair
from tests.cli.command import HOSTILE, inert, mcpguard
from tests.cli.doctoring import bad, doctor, files, of, only
from tests.process import serving

MOUNTS = r"""22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:25 / /srv/with\040blank rw - nfs4 host:/export rw
31 22 0:26 / /srv/with\040blank/in rw - tmpfs tmpfs rw
32 22 0:27 / /twice rw - ext4 /dev/vdb rw
33 22 0:28 / /twice rw - fuse.sshfs other rw
a line that is none
"""


def test_a_port_that_another_program_has_is_found_without_a_word_to_that_program(
    lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived.chmod(0o700)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("MCPGUARD_LISTEN", f"127.0.0.1:{port}")
        found = only(doctor(lived, code=1), "listener.free")
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
    assert str(port) in found["sentence"]
    assert str(port) in found["next"]
    assert bad(doctor(lived)) == []


@pytest.mark.parametrize(
    ("name", "mode", "command"),
    [
        (".", 0o755, "chmod 700"),
        ("audit.key", 0o640, "chmod 600"),
        ("seal.key", 0o604, "chmod 600"),
        ("digest.key", 0o602, "chmod 600"),
        ("mcpguard.db", 0o644, "chmod 600"),
        ("logs", 0o750, "chmod 700"),
        ("logs/x.log", 0o644, "chmod 600"),
        ("secrets/files", 0o750, "chmod 700"),
        ("secrets/files/TOKEN", 0o640, "chmod 600"),
        ("connected/cursor/1.before", 0o644, "chmod 600"),
    ],
)
def test_what_others_can_get_at_is_a_problem_that_the_named_command_ends(
    stopped: Path, name: str, mode: int, command: str
) -> None:
    path = stopped / name
    for each in ("logs/x.log", "secrets/files/TOKEN", "connected/cursor/1.before"):
        file = stopped / each
        for folder in reversed([above for above in file.parents if above.is_relative_to(stopped)]):
            folder.mkdir(mode=0o700, exist_ok=True)
        file.touch(0o600)
    path.chmod(mode)
    found = next(each for each in of(doctor(stopped, code=1), "files.mode") if each["level"] == "problem")
    assert (found["of"], found["next"]) == (str(path), f"{command} {path}")
    subprocess.run(found["next"].split(), check=True)
    assert bad(doctor(stopped)) == []


def test_names_of_files_do_nothing_to_the_terminal_nor_to_the_shell(stopped: Path) -> None:
    name = HOSTILE.replace("/", "").replace("\0", "") + " $(reboot)"
    stopped.joinpath(name).touch()
    stopped.joinpath(name).chmod(0o644)
    (found,) = of(doctor(stopped, code=1), "files.mode")
    assert found["next"].startswith(f"chmod 600 '{stopped}/")
    subprocess.run(shlex.split(found["next"]), check=True)
    assert inert(mcpguard("doctor", "--data-dir", stopped).output)
    assert bad(doctor(stopped)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_somebody_else_is_a_problem(stopped: Path) -> None:
    os.chown(stopped / "digest.key", 12345, -1)
    (found,) = of(doctor(stopped, code=1), "files.owner")
    assert found["of"] == str(stopped / "digest.key")
    assert "12345" in found["sentence"]


def test_a_data_directory_that_everybody_can_replace_is_a_problem(stopped: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert only(doctor(stopped, code=1), "files.above")["of"] == str(tmp_path)
    tmp_path.chmod(0o1777)
    assert bad(doctor(stopped)) == []


@pytest.mark.usefixtures("free")
def test_a_data_directory_that_is_a_file_is_a_problem_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("mine")
    assert only(doctor(path, code=1), "files.data_dir")["level"] == "problem"
    assert path.read_text() == "mine"


def test_a_folder_of_secrets_that_others_reach_is_a_problem(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir(0o755)
    folder.joinpath("token").write_text("s3cr3t-v4lu3")
    folder.joinpath("token").chmod(0o644)
    monkeypatch.setenv("MCPGUARD_UPSTREAMS__SECRET_FOLDERS", str(folder))
    told = mcpguard("doctor", "--data-dir", stopped)
    assert f"chmod 600 {folder / 'token'}" in told.stdout
    assert told.exit_code == 1
    assert "s3cr3t-v4lu3" not in told.output
    folder.chmod(0o700)
    assert bad(doctor(stopped)) == []
    folder.chmod(0o720)
    assert bad(doctor(stopped, code=1)) == ["files.writable"]


def later(data_dir: Path, seconds: int) -> None:
    """The newest record is of some time from now, as if the clock had been set back since."""
    with closing(sqlite3.connect(data_dir / "mcpguard.db")) as database, database:
        database.execute(
            "UPDATE records SET at = (strftime('%s', 'now') + ?) * 1000000 WHERE seq = (SELECT max(seq) FROM records)",
            (seconds,),
        )


def test_a_clock_behind_the_newest_record_is_a_problem(stopped: Path) -> None:
    later(stopped, 7200)
    found = only(doctor(stopped, code=1), "clock.behind")
    assert (found["level"], "set the clock" in found["next"]) == ("problem", True)
    later(stopped, -5)
    assert bad(doctor(stopped)) == []


def test_a_year_that_cannot_be_is_a_problem(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "EARLIEST", clock.LATEST)
    assert bad(doctor(stopped, code=1)) == ["clock.plausible"]


def test_what_the_system_says_of_its_clock_is_no_more_than_a_notice(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "SYSTEM", tmp_path)
    monkeypatch.setattr(clock, "SYSTEM_PATH", f"{tmp_path}:/usr/bin:/bin")
    program = tmp_path / "timedatectl"
    for said, level in (("no", "notice"), ("yes", "ok")):
        program.write_text(f"#!/bin/sh\necho {said}\n")
        program.chmod(0o755)
        assert only(doctor(stopped), "clock.synchronized")["level"] == level
    program.write_text("#!/bin/sh\necho nonsense >&2; exit 3\n")
    assert of(doctor(stopped), "clock.synchronized") == []


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=8m,nr_inodes=90,mode=700", "none", str(folder)):
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run([shutil.which("umount") or "umount", str(folder)], check=True)


def mount(*words: str) -> bool:
    program = shutil.which("mount")
    return program is not None and not subprocess.run([program, *words], capture_output=True, check=False).returncode


def test_a_disk_that_is_nearly_full_is_a_problem(stopped: Path, tiny: Path) -> None:
    data_dir = Path(shutil.copytree(stopped, tiny / "data"))
    findings = doctor(data_dir, code=1)
    assert sorted(bad(findings)) == ["disk.files", "disk.space"]
    assert only(findings, "disk.kind")["level"] == "notice"
    assert "tmpfs" in only(findings, "disk.kind")["sentence"]


def test_a_disk_that_cannot_be_written_is_a_problem_and_the_rest_is_looked_at(stopped: Path, tiny: Path) -> None:
    data_dir = Path(shutil.copytree(stopped, tiny / "data"))
    assert mount("-o", "remount,ro", str(tiny))
    findings = doctor(data_dir, code=1)
    assert "disk.writable" in bad(findings)
    assert only(findings, "database.read")["level"] == "ok"


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/data", "ext4"),
        ("/srv/with blank", "nfs4"),
        ("/srv/with blank/x/y", "nfs4"),
        ("/srv/with blank/in/x", "tmpfs"),
        ("/srv/with blankets", "ext4"),
        ("/twice/x", "fuse.sshfs"),
    ],
)
def test_the_file_system_of_a_folder_is_the_last_that_is_mounted_nearest_to_it(folder: str, kind: str) -> None:
    assert file_system(Path(folder), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph"])
def test_what_is_shared_over_a_network_is_no_place_for_a_database(kind: str) -> None:
    assert disk.SHARED.fullmatch(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "apfs", "tmpfs", ""])
def test_what_is_a_disk_is_one(kind: str) -> None:
    assert not disk.SHARED.fullmatch(kind)


def test_too_few_open_files_are_a_notice_and_hardly_any_a_problem(stopped: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        for most, level in ((1024, "notice"), (200, "problem")):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            found = only(doctor(stopped, code=level == "problem"), "machine.files")
            assert (found["level"], f"{most:,}" in found["sentence"]) == (level, True)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_database_is_looked_at_whatever_it_is(stopped: Path) -> None:
    path = stopped / "mcpguard.db"
    for content in (b"", b"SQLite format 3\0" + b"\xff" * 5000, b"no database at all" * 1000):
        path.write_bytes(content)
        before = files(stopped)
        findings = doctor(stopped, code=1)
        assert bad(findings) == ["database.read"]
        assert {only(findings, check)["level"] for check in ("servers.known", "key.matches")} == {"notice"}
        assert files(stopped) == before


@pytest.mark.parametrize(("schema", "level"), [("9999", "problem"), ("0009", "notice"), (HOSTILE, "problem")])
def test_a_schema_of_another_version_is_told(stopped: Path, schema: str, level: str) -> None:
    with closing(sqlite3.connect(stopped / "mcpguard.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = ?", (schema,))
    found = only(doctor(stopped, code=level == "problem"), "database.schema")
    assert found["level"] == level
    assert inert(mcpguard("doctor", "--data-dir", stopped).output)


def test_two_schemas_at_once_are_told(stopped: Path) -> None:
    with closing(sqlite3.connect(stopped / "mcpguard.db")) as database, database:
        database.execute("INSERT INTO alembic_version VALUES ('0001')")
    assert "database.read" in bad(doctor(stopped, code=1))


def test_a_database_server_that_is_not_there_is_told_without_its_password(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        url = f"postgresql://guard:s3cr3t-v4lu3@127.0.0.1:{nobody.getsockname()[1]}/guard"
        monkeypatch.setenv("MCPGUARD_STORE__URL", url)
        assert "database.read" in bad(doctor(stopped, code=1))
        assert "s3cr3t-v4lu3" not in mcpguard("doctor", "--data-dir", stopped).output


def test_a_database_on_a_server_is_looked_at_with_a_guard_and_without(
    tmp_path: Path, postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.postgres import fresh_database  # noqa: PLC0415 - slow to import, and many runs need none

    url = fresh_database(postgres_server)
    monkeypatch.setenv("MCPGUARD_LISTEN", "127.0.0.1:0")
    monkeypatch.setenv("MCPGUARD_STORE__URL", url)
    assert "database.read" in bad(doctor(tmp_path / "data", code=1)), "nothing is in it yet"
    with serving(tmp_path / "data", environ={"MCPGUARD_STORE__URL": url}) as guard:
        assert only(doctor(guard.data_dir), "database.read")["level"] == "ok"
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    findings = doctor(tmp_path / "data")
    assert (only(findings, "database.read")["level"], only(findings, "key.matches")["level"]) == ("ok", "ok")


@pytest.mark.parametrize(
    "content",
    [b"", b"no key", b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"],
    ids=repr,
)
def test_a_file_that_is_no_signing_key_is_a_problem(stopped: Path, content: bytes) -> None:
    stopped.joinpath("audit.key").write_bytes(content)
    assert bad(doctor(stopped, code=1)) == ["key.matches"]


def test_a_signing_key_that_is_another_or_gone_is_a_problem(stopped: Path) -> None:
    assert only(doctor(stopped), "key.matches")["level"] == "ok"
    stopped.joinpath("audit.key").write_bytes(keys.new_key()[1])
    assert bad(doctor(stopped, code=1)) == ["key.matches"]
    stopped.joinpath("audit.key").unlink()
    assert bad(doctor(stopped, code=1)) == ["key.matches"]
    assert not stopped.joinpath("audit.key").exists()


def test_an_anchor_file_inside_the_data_directory_is_a_problem(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(doctor(stopped), "anchors.outside")["level"] == "notice"
    monkeypatch.setenv("MCPGUARD_AUDIT__ANCHOR_FILE", str(stopped / "anchors"))
    assert bad(doctor(stopped, code=1)) == ["anchors.outside"]


def test_a_log_that_ends_before_its_anchors_is_a_problem(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anchors = tmp_path / "anchors"
    monkeypatch.setenv("MCPGUARD_AUDIT__ANCHOR_FILE", str(anchors))
    assert only(doctor(stopped), "anchors.written")["level"] == "notice"
    anchors.write_text(mcpguard("audit", "checkpoint", "--data-dir", stopped).stdout.replace("\n", "") + "\n")
    anchors.chmod(0o600)
    assert only(doctor(stopped), "anchors.written")["level"] == "ok"
    with closing(sqlite3.connect(stopped / "mcpguard.db")) as database, database:
        for table in ("records", "checkpoints"):
            database.execute(f"DELETE FROM {table} WHERE seq > 2")
    assert bad(doctor(stopped, code=1)) == ["anchors.agree"]
    anchors.chmod(0o666)
    assert sorted(bad(doctor(stopped, code=1))) == ["anchors.agree", "files.writable"]


@pytest.mark.skipif(os.geteuid() != 0, reason="the account of somebody else has to be taken")
@pytest.mark.parametrize("reachable", [False, True])
def test_where_nothing_may_be_looked_at_that_is_said_and_nothing_fails(stopped: Path, *, reachable: bool) -> None:
    """In an account that may not enter the data directory, and may or may not know that it is there."""
    with tempfile.TemporaryDirectory(prefix="mg-") as folder:
        Path(folder).chmod(0o711 if reachable else 0o700)
        data_dir = Path(shutil.copytree(stopped, Path(folder, "data")))
        file = Path(folder, "config.json")
        file.write_text("{}")
        file.chmod(0o600)
        nobody = pwd.getpwnam("nobody").pw_uid
        os.setresuid(nobody, nobody, 0)
        try:
            findings = doctor(data_dir, code=1)
            named = doctor(data_dir, "--config", file, code=1)
        finally:
            os.setresuid(0, 0, 0)
    assert "database.read" in bad(findings)
    assert of(findings, "check.made")
    assert only(findings, "machine.python")["level"] == "ok"
    assert "settings.loaded" in bad(named)


@pytest.mark.parametrize(
    ("days", "level", "told"),
    [(90, "ok", "is valid until"), (3, "notice", "expires on"), (-3, "problem", "has expired on")],
)
def test_a_certificate_is_told_before_and_after_it_has_expired(
    days: int, level: str, told: str, lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived.chmod(0o700)
    files = pair(tmp_path, days=days)
    monkeypatch.setenv("MCPGUARD_TLS__CERTIFICATE", str(files.certificate))
    monkeypatch.setenv("MCPGUARD_TLS__KEY", str(files.key))
    monkeypatch.setenv("MCPGUARD_LISTEN", "0.0.0.0:0")
    found = doctor(lived, code=1 if level == "problem" else 0)
    assert only(found, "tls.certificate")["level"] == level
    assert told in only(found, "tls.certificate")["sentence"]
    assert "every agent needs a token" in only(found, "anonymous.listen")["sentence"]


def test_a_certificate_that_cannot_be_used_is_a_problem(
    lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived.chmod(0o700)
    monkeypatch.setenv("MCPGUARD_TLS__CERTIFICATE", str(tmp_path / "nothing.pem"))
    found = only(doctor(lived, code=1), "tls.certificate")
    assert found["sentence"].startswith("the certificate cannot be used: ")
    assert "nothing.pem cannot be read: No such file" in found["sentence"]
