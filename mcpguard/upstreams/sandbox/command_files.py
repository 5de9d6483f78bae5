"""Finds the program of a command, and the files that the program needs to run.

Rules kept here:
1. A program outside the system's folders is made visible alone, with the targets of its links and of its first line
   (`#!`).
2. An interpreter is made visible with its libraries: `bin` and `lib` of its Python or virtual environment, but nothing
   else of the folder around them, which may be a user's home.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind, in_system

LINKS = 40
FIRST_LINE = 512
LIBRARIES = ("bin", "lib", "lib64")


def require_program(command: str, environment: Mapping[str, str], folder: Path | None) -> Path:
    """Return the program of a command. Raises NotConfined where there is none."""
    if path := find_program(command, environment, folder):
        return path
    raise NotConfined(f"{command} was not found, or is not executable")


def find_program(command: str, environment: Mapping[str, str], folder: Path | None) -> Path | None:
    """Return the program's absolute path, or None. Links are kept: some programs depend on their name."""
    if "/" in command:
        candidates = [Path(os.path.normpath((folder or Path.cwd()) / command))]
    else:
        candidates = [Path(each) / command for each in os.get_exec_path(environment) if each.startswith("/")]
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


def interpreters(program: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the interpreters of a script, of its interpreter, and so on. Raises NotConfined."""
    found_so, left = list[Path](), [program]
    while left:
        words = _first_line(left.pop())
        each = [require_program(word, environment, None) for word in words]
        found_so += each
        left += each[-1:]
        # Two scripts may name each other as interpreters. The kernel gives up there, and so does this.
        if len(found_so) > LINKS:
            raise NotConfined(f"the interpreters of {program} form an endless chain")
    return tuple(found_so)


def needed_places(program: Path, environment: Mapping[str, str]) -> Iterator[Bind]:
    """Yield the files and folders that the program needs besides the system's. Raises NotConfined."""
    # Every link on the way is shown, not only the file at the end: the path has to work inside as it does outside.
    for _ in range(LINKS):
        yield from _around(program)
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
    else:
        raise NotConfined(f"{program} is a broken or circular link")
    if interpreter := _interpreter(program, environment):
        yield from needed_places(interpreter, environment)


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
    """Return the folder of the Python that a virtual environment was made from."""
    if not configuration.is_file():
        return None
    for line in configuration.read_text(errors="replace").splitlines():
        name, equals, value = line.partition("=")
        if equals and name.strip() == "home" and value.strip().startswith("/"):
            return Path(os.path.normpath(value.strip()))
    return None


def _interpreter(program: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the interpreter in a script's first line; with `env` there, the program that `env` would find."""
    words = _first_line(program)
    return require_program(words[-1], environment, None) if words else None


def _first_line(program: Path) -> tuple[str, ...]:
    """Return the program in a script's first line; where that is `env`, also the one that `env` is to find."""
    with program.open("rb") as file:
        line = file.read(FIRST_LINE).partition(b"\n")[0]
    if not line.startswith(b"#!"):
        return ()
    words = line[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        # The first word that is no option and no assignment is the program, as in `env -S A=1 python3`.
        behind = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return (words[0], *behind[:1])
    return tuple(words[:1])
