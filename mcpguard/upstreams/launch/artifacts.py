"""Computes the artifact of a server that is not a package: the digest of the executed file, if it is a single file.

Rules kept here:
1. An interpreter of the operating system is trusted, and only the script is hashed. An interpreter from elsewhere is
   hashed too.
2. There is no artifact where the server is not started from a single file (a module, code in the arguments, code loaded
   before the script), or where that file cannot be read. Code that the file itself loads is not covered.
3. This reads files of bounded size, and the disk may hang: it must be called in a thread.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mcpguard.domain.servers.runners import file_that_runs, runs_files
from mcpguard.upstreams.process.program_files import ProgramFile, read_program
from mcpguard.upstreams.process.secret_arguments import Word
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.places import in_system

_INTERPRETER: Final = re.compile(r"(python|pypy|ruby|perl|php|lua)[0-9.]*|node(js)?|deno|bun|sh|bash|dash|zsh")
_NO_FILE: Final = frozenset({"-c", "-m", "-e", "-p", "-r", "-E", "-i", "-s", "-", "--eval", "--print", "-pe", "-ne"})
"""Options after which the file that follows is not, or not alone, what runs. Interpreters disagree on `-r` and `-s`."""
_VALUED: Final = frozenset({"-X", "-W", "--check-hash-based-pycs", "-I", "-C", "--conditions", "--title", "--cwd"})
_LOADING: Final = ("--require", "--import", "--loader", "--experimental-loader", "--preload")
_VERBS: Final = frozenset({"run"})
_LETTERS_OF_PYTHON: Final = frozenset({"-E", "-i", "-s", "-I"})


def executed_files(launch: ProcessLaunch, program: Path) -> tuple[ProgramFile, ...]:
    """Return the files that decide what runs, where the command leads to this program; none where that is unknown."""
    try:
        # The kernel searches the PATH of the new process in its own working directory. A relative folder there may lead
        # to another program than the one that was found here.
        _not_elsewhere(launch, program)
        name = program.resolve().name
        if runner := next((each for each in (Path(launch.command).name, name) if runs_files(each)), None):
            words = [word for word in launch.arguments if isinstance(word, str)]
            return _with_runner(launch, program, file_that_runs(runner, words))
        if not _INTERPRETER.fullmatch(name) and not _INTERPRETER.fullmatch(Path(launch.command).name):
            return (read_program("file", program),)
        return _with_runner(launch, program, _script(name, launch.arguments))
    except (OSError, ValueError, RuntimeError):
        return ()


def _with_runner(launch: ProcessLaunch, program: Path, script: str | None) -> tuple[ProgramFile, ...]:
    if script is None:
        return ()
    # An interpreter outside of the system's folders can be replaced without root, so it is hashed as well.
    runner = () if in_system(program.resolve()) else (read_program("file", program),)
    return (*runner, read_program("script", (launch.folder or Path.cwd()) / script))


def file_artifact(files: Sequence[ProgramFile]) -> str | None:
    """Return the artifact: `file:sha256:…`, or `script:sha256:…` where an interpreter of the system runs the script."""
    return " ".join(f"{each.mark}:{each.digest}" for each in files) or None


def _not_elsewhere(launch: ProcessLaunch, program: Path) -> None:
    """Raise ValueError where a relative folder of the PATH might hold the program that is started."""
    if "/" not in launch.command:
        for folder in os.get_exec_path(launch.environment):
            if not folder.startswith("/"):
                raise ValueError("the program depends on the working directory")
            if program == Path(folder) / launch.command:
                return


def _script(interpreter: str, arguments: Sequence[Word]) -> str | None:
    """Return the file that the interpreter is told to run, if it is told to run nothing else."""
    python = interpreter.startswith(("python", "pypy"))
    left = [word for word in arguments if isinstance(word, str)]
    if interpreter in {"deno", "bun"} and left and left[0] in _VERBS:
        left.pop(0)
    while left and left[0].startswith("-"):
        word = left.pop(0)
        if word == "--":
            break
        if python and word in _LETTERS_OF_PYTHON:
            continue
        # Unknown to the digest: code in an argument, or a file that is loaded before the script and could replace it.
        if word in _NO_FILE or word.startswith(_LOADING):
            return None
        if word in _VALUED:
            del left[:1]
    return left[0] if left else None
