"""Where a command leads, and what that needs to run.

Rules kept here:
1. A program outside the system's folders is seen alone, with what its links and its first line (`#!`) lead to.
2. An interpreter is seen with its libraries: `bin` and `lib` of the Python or the virtual environment that it belongs
   to, and nothing else of the folder that they are in, which may be somebody's home.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind, in_system

LINKS = 40
FIRST_LINE = 512
LIBRARIES = ("bin", "lib", "lib64")


def found(command: str, environment: Mapping[str, str], folder: Path | None) -> Path:
    """As `find`. Raises NotConfined where there is none."""
    if path := find(command, environment, folder):
        return path
    raise NotConfined(f"{command} is no program that can be started")


def find(command: str, environment: Mapping[str, str], folder: Path | None) -> Path | None:
    """The program that is meant, as an absolute path. Links stay: some programs look at how they were called."""
    if "/" in command:
        candidates = [Path(os.path.normpath((folder or Path.cwd()) / command))]
    else:
        candidates = [Path(each) / command for each in os.get_exec_path(environment) if each.startswith("/")]
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


def interpreters(program: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The programs that its first line has run, and what those begin with in turn. Raises NotConfined."""
    found_so, left = list[Path](), [program]
    while left:
        words = _first_line(left.pop())
        each = [found(word, environment, None) for word in words]
        found_so += each
        left += each[-1:]
        if len(found_so) > LINKS:
            raise NotConfined(f"{program} is run by programs without an end")
    return tuple(found_so)


def needed(program: Path, environment: Mapping[str, str]) -> Iterator[Bind]:
    """What has to be seen for it to run, besides the system."""
    for _ in range(LINKS):
        yield from _around(program)
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
    else:
        raise NotConfined(f"{program} is a link that leads nowhere")
    if interpreter := _interpreter(program, environment):
        yield from needed(interpreter, environment)


def _around(program: Path) -> Iterator[Bind]:
    prefix = program.parent.parent
    if in_system(program):
        return
    if program.parent.name == "bin" and _of_python(prefix):
        yield from _libraries(prefix)
        if home := _home(prefix / "pyvenv.cfg"):
            yield from _around(home / "python")
    elif program.exists():
        yield Bind(program, program.resolve())


def _of_python(prefix: Path) -> bool:
    return (prefix / "pyvenv.cfg").is_file() or any(prefix.glob("lib*/python3*/os.py"))


def _libraries(prefix: Path) -> Iterator[Bind]:
    for each in (*(prefix / name for name in LIBRARIES), prefix / "pyvenv.cfg"):
        if each.exists():
            yield Bind(each, each.resolve())


def _home(configuration: Path) -> Path | None:
    """Where the Python is that a virtual environment was made from."""
    if not configuration.is_file():
        return None
    for line in configuration.read_text(errors="replace").splitlines():
        name, equals, value = line.partition("=")
        if equals and name.strip() == "home" and value.strip().startswith("/"):
            return Path(os.path.normpath(value.strip()))
    return None


def _interpreter(program: Path, environment: Mapping[str, str]) -> Path | None:
    """The program that its first line names; with `env` in it, the one that `env` would find."""
    words = _first_line(program)
    return found(words[-1], environment, None) if words else None


def _first_line(program: Path) -> tuple[str, ...]:
    """The program that its first line names; where that is `env`, also the one that `env` is to find."""
    with program.open("rb") as file:
        line = file.read(FIRST_LINE).partition(b"\n")[0]
    if not line.startswith(b"#!"):
        return ()
    words = line[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        behind = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return (words[0], *behind[:1])
    return tuple(words[:1])
