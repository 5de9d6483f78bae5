"""What is put into a sandbox, and what never is."""

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcpguard.domain.servers.launches import Mount, Profile
from mcpguard.upstreams.process.secret_arguments import SecretArgument
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.bwrap_command import Sandbox
from mcpguard.upstreams.sandbox.command_files import needed_places, require_program
from mcpguard.upstreams.sandbox.confined_launch import confine_launch
from mcpguard.upstreams.sandbox.filter import PROCESSORS
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.mounts import admit_mounts, check_own_paths
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind, system_places

PROCESSOR = PROCESSORS["x86_64"]
PATH = {"PATH": "/usr/bin:/bin"}
ME = os.geteuid()


def sandbox(account: int = ME) -> Sandbox:
    return Sandbox(
        "/usr/bin/bwrap", "/usr/bin/prlimit", "/usr/bin/setpriv", "/usr/bin/env", PROCESSOR, account, account
    )


def confining(launch: ProcessLaunch, folder: Path, *mounts: Mount, profile: Profile = Profile.STRICT) -> ProcessLaunch:
    return confine_launch(launch, profile, mounts, sandbox(), folder / "data", ProcessLimits())


def words(launch: ProcessLaunch) -> list[str]:
    return [launch.command, *(str(word) for word in launch.arguments)]


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_without_a_sandbox_the_launch_is_what_it_was(tmp_path: Path) -> None:
    launch = ProcessLaunch("anything", ("at", "all"), {"TOKEN": "x"}, tmp_path)
    assert confining(launch, tmp_path, profile=Profile.NONE) is launch


def test_what_confines_it_runs_with_none_of_its_environment(tmp_path: Path) -> None:
    given = {**PATH, "TOKEN": "canary", "LD_PRELOAD": "/evil.so", "MCPGUARD_STARTED": "mark"}
    launch = confining(ProcessLaunch("env", (), given), tmp_path)
    assert launch.environment == {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "MCPGUARD_STARTED": "mark"}
    assert "canary" not in " ".join(words(launch))
    handed = [word.content for word in launch.arguments if isinstance(word, SecretArgument)]
    assert b"--setenv\0TOKEN\0canary\0" in handed[0]
    assert b"evil" not in handed[0]
    line = words(launch)
    assert line[-2:] == ["LD_PRELOAD=/evil.so", "/usr/bin/env"]
    assert line.index("LD_PRELOAD=/evil.so") > line.index("/usr/bin/prlimit"), "the limits come first"


def test_only_what_is_listed_of_the_system_is_there() -> None:
    strict, contained = (list(system_places(network=network)) for network in (False, True))
    assert set(strict) < set(contained)
    for place in contained:
        assert str(place.at) == "/usr" or str(place.at).startswith(("/bin", "/sbin", "/lib", "/etc/"))
    assert not {"/etc/resolv.conf", "/etc/hosts"} & {str(place.at) for place in strict}
    assert not {"/etc", "/etc/passwd", "/etc/shadow", "/etc/ssl", "/etc/ssl/private"} & {str(x.at) for x in contained}


@pytest.mark.parametrize(
    ("mount", "why"),
    [
        ("relative/path", "absolute path"),
        ("{here}/../{name}", "absolute path"),
        ("{here}/missing", "the folder does not exist"),
        ("{here}/file", "the folder does not exist"),
        ("/", "data directory"),
        ("{here}", "data directory"),
        ("{here}/data", "data directory"),
        ("{here}/data/logs", "data directory"),
        ("{here}/link-to-data", "data directory"),
        ("/proc", "belongs to the operating system"),
        ("/proc/self", "belongs to the operating system"),
        ("/sys/kernel", "belongs to the operating system"),
        ("/dev/pts", "belongs to the operating system"),
        ("/run", "belongs to the operating system"),
        ("/etc", "as a whole"),
        ("/usr", "as a whole"),
        ("/var", "as a whole"),
        ("/home", "as a whole"),
        ("{here}/home", "home directory"),
        ("{here}/home/me", "home directory"),
        ("{here}/with-socket", "is a socket in use"),
    ],
)
def test_what_is_never_mounted(mount: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    for name in ("data/logs", "home/me/project", "with-socket/deep/down"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link-to-data").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path / "with-socket" / "deep" / "down")
    path = mount.format(here=tmp_path, name=tmp_path.name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        listener.listen()
        with pytest.raises(NotConfined, match=why) as refused:
            list(admit_mounts([Mount(path)], tmp_path / "data", ME, ME))
    assert str(refused.value).startswith(f"{path} cannot be mounted")


def test_what_is_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "home" / "project")
    mounts = [Mount(str(tmp_path / "home" / "project"), writable=True), Mount(str(tmp_path / "link"))]
    real = (tmp_path / "home" / "project").resolve()
    assert list(admit_mounts(mounts, tmp_path / "data", ME, ME)) == [
        Bind(tmp_path / "home" / "project", real, writable=True),
        Bind(tmp_path / "link", real),
    ]


def test_a_folder_that_the_account_cannot_use_is_refused_and_not_merely_empty(tmp_path: Path) -> None:
    other = ME + 1
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o750)
    with pytest.raises(NotConfined, match=f"the server runs as user {other} in group {other}, which may not read it"):
        list(admit_mounts([Mount(str(tmp_path / "folder"))], tmp_path / "data", other, other))
    (tmp_path / "folder").chmod(0o755)
    assert list(admit_mounts([Mount(str(tmp_path / "folder"))], tmp_path / "data", other, other))
    with pytest.raises(NotConfined, match="may not write to it"):
        list(admit_mounts([Mount(str(tmp_path / "folder"), writable=True)], tmp_path / "data", other, other))


def test_it_works_in_a_folder_that_is_mounted_or_in_its_home(tmp_path: Path) -> None:
    (tmp_path / "work" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    mount = Mount(str(tmp_path / "work"))
    for folder in ("work", "work/deep"):
        line = words(confining(ProcessLaunch("env", (), PATH, tmp_path / folder), tmp_path, mount))
        assert line[line.index("--seccomp") - 5 : line.index("--seccomp") - 3] == ["--chdir", str(tmp_path / folder)]
    with pytest.raises(NotConfined, match=r"working directory .*elsewhere is not mounted"):
        confining(ProcessLaunch("env", (), PATH, tmp_path / "elsewhere"), tmp_path, mount)


def test_a_home_that_is_mounted_stays_its_home(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    given = {**PATH, "HOME": str(tmp_path / "work"), "TMPDIR": str(tmp_path)}
    launch = confining(ProcessLaunch("env", (), given), tmp_path, Mount(str(tmp_path / "work")))
    handed = next(word.content for word in launch.arguments if isinstance(word, SecretArgument)).split(b"\0")
    assert handed[handed.index(b"HOME") + 1] == bytes(tmp_path / "work")
    assert handed[handed.index(b"TMPDIR") + 1] == b"/tmp"


def test_a_program_alone_is_seen_alone(tmp_path: Path) -> None:
    """What lies beside it, in somebody's `bin` or below it, is not."""
    tool = executable(tmp_path / ".local" / "bin" / "tool", "\x7fELF")
    (tmp_path / ".local" / "share").mkdir()
    assert list(needed_places(tool, PATH)) == [Bind(tool, tool.resolve())]


def test_links_and_first_lines_are_followed(tmp_path: Path) -> None:
    """As package managers leave it: a link to a script in a virtual environment, which begins with its Python."""
    base, tool = tmp_path / "base", tmp_path / "tools" / "tool"
    executable(base / "bin" / "python3", "\x7fELF")
    (base / "lib" / "python3.12").mkdir(parents=True)
    (base / "lib" / "python3.12" / "os.py").touch()
    (tool / "lib").mkdir(parents=True)
    (tool / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = 3.12\n")
    script = executable(tool / "bin" / "server", f"#!{tool}/bin/python\nimport this\n")
    (tool / "bin" / "python").symlink_to(base / "bin" / "python3")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "server").symlink_to(script)
    seen = {bind.at for bind in needed_places(tmp_path / "bin" / "server", PATH)}
    expected = ["bin/server", "tools/tool/bin", "tools/tool/lib", "tools/tool/pyvenv.cfg", "base/bin", "base/lib"]
    assert seen == {tmp_path / name for name in expected}


def test_the_environments_own_interpreter_is_found_for_env(tmp_path: Path) -> None:
    ours = executable(tmp_path / "path" / "node", "\x7fELF")
    script = executable(tmp_path / "server", "#!/usr/bin/env -S node --enable-source-maps\n")
    seen = [bind.at for bind in needed_places(script, {"PATH": f"relative:{ours.parent}:/usr/bin"})]
    assert seen == [script, ours]


def test_what_the_system_has_needs_nothing_more() -> None:
    shell = shutil.which("sh", path="/usr/bin:/bin")
    assert shell
    assert list(needed_places(Path(shell), PATH)) == []


def test_a_link_in_a_circle_and_what_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    for command in (str(tmp_path / "one"), "no-such-command", str(tmp_path)):
        with pytest.raises(NotConfined, match="was not found, or is not executable"):
            require_program(command, PATH, None)


def test_what_is_needed_never_shows_the_data_directory(tmp_path: Path) -> None:
    """It lies where the interpreter's libraries are: then the guard says so."""
    prefix = tmp_path / "venv"
    python = executable(prefix / "bin" / "python", "\x7fELF")
    (prefix / "pyvenv.cfg").touch()
    (prefix / "lib" / "data").mkdir(parents=True)
    with pytest.raises(NotConfined, match="the data directory"):
        confine_launch(
            ProcessLaunch(str(python), (), PATH),
            Profile.STRICT,
            (),
            sandbox(),
            prefix / "lib" / "data",
            ProcessLimits(),
        )


def test_a_socket_that_listens_is_found_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("folder/s")
        listener.listen()
        with pytest.raises(NotConfined, match=r"folder/s is a socket in use$"):
            list(admit_mounts([Mount(str(tmp_path / "folder"))], tmp_path / "data", ME, ME))


def test_a_file_that_goes_while_its_folder_is_searched_is_no_fault_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    passing, lists = tmp_path / "folder" / "passing", os.scandir

    @contextmanager
    def listed_and_removed(folder: Path) -> Iterator[list[os.DirEntry[str]]]:
        passing.touch()
        with lists(folder) as entries:
            found = list(entries)
        passing.unlink()
        yield found

    monkeypatch.setattr(os, "scandir", listed_and_removed)
    (bind,) = admit_mounts([Mount(str(tmp_path / "folder"))], tmp_path / "data", ME, ME)
    assert bind.source == (tmp_path / "folder").resolve()


def test_this_python_is_seen_with_its_libraries(tmp_path: Path) -> None:
    seen = [bind.at for bind in needed_places(require_program(sys.executable, PATH, None), PATH)]
    for path in (Path(os.__file__), Path(sys.executable)):
        if not path.is_relative_to("/usr"):
            assert any(path.is_relative_to(at) for at in seen)
    assert not any(tmp_path.is_relative_to(at) for at in seen)


def test_a_folder_of_the_guards_own_is_seen_elsewhere_and_where_nothing_else_is(tmp_path: Path) -> None:
    (tmp_path / "data" / "tree").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    own = [Bind(Path("/opt/package"), tmp_path / "data" / "tree")]

    def line(*mounts: Mount, folder: Path | None = None) -> list[str]:
        launch = ProcessLaunch("env", (), PATH, folder)
        return words(
            confine_launch(launch, Profile.STRICT, mounts, sandbox(), tmp_path / "data", ProcessLimits(), own=own)
        )

    found = line(Mount(str(tmp_path / "work")), folder=Path("/opt/package"))
    at = found.index(str(tmp_path / "data" / "tree"))
    assert found[at - 1 : at + 2] == ["--ro-bind", str(tmp_path / "data" / "tree"), "/opt/package"]
    assert [word for word in found if str(tmp_path / "data") in word] == [found[at]], "and nothing else of it"
    with pytest.raises(NotConfined, match="the data directory"):
        line(Mount(str(tmp_path / "data" / "tree")))
    for place in (Bind(Path("/opt"), tmp_path / "work"), Bind(Path("/opt/package/x"), tmp_path / "work")):
        with pytest.raises(
            NotConfined, match=f"{place.at} cannot be mounted: /opt/package is reserved for its package"
        ):
            check_own_paths(own, [place])
    check_own_paths(own, [Bind(Path("/opt/other"), tmp_path / "work"), Bind(Path("/usr"), Path("/usr"))])
    check_own_paths([], [Bind(Path("/opt"), tmp_path / "work")])
