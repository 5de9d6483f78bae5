"""Inspects how a server is launched or reached (T24).

Evidence is a place in the launch: `/command`, `/arguments/0`, `/url`, or the name of a variable or header. Values of
variables and headers are templates that may hold secrets, so only their names are inspected.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

from mcpguard.domain.findings import Evidence, Finding
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import Launch, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.runners import file_that_runs, runs_files
from mcpguard.inspection.detectors.commands import find_command as command_in
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.policy.secrets.launches import secret_arguments, secret_in_command, secret_in_url

_UNPINNED: Final = RULES["launch.unpinned"]
_UNVERSIONED: Final = RULES["launch.unversioned"]
_SHELL: Final = RULES["launch.shell"]
_INLINE: Final = RULES["launch.inline"]
_DOWNLOAD: Final = RULES["launch.download"]
_COMMAND: Final = RULES["launch.command"]
_VARIABLE: Final = RULES["launch.variable"]
_ROOT: Final = RULES["launch.privileged"]
_IMAGE: Final = RULES["launch.image"]
_PLAIN: Final = RULES["launch.plaintext"]
_SECRET: Final = RULES["launch.secret"]
_UNHASHED: Final = RULES["launch.unhashed"]

_SHELLS: Final = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh", "busybox", "wscript", "cscript", "mshta"}
)
_FETCHERS: Final = frozenset({"curl", "wget", "aria2c", "certutil", "bitsadmin"})
_RIGHTS: Final = frozenset({"sudo", "doas", "su", "pkexec", "runas"})
_PASSING: Final = frozenset({"env", "sudo", "doas", "nohup", "timeout", "nice", "setsid", "xargs"})
"""Programs that run the program named in their arguments."""
_INTERPRETERS: Final = ("python", "node", "ruby", "perl", "php", "deno", "bun", "lua", "osascript")
_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-r", "--eval", "eval", "-p", "--print", "--command", "-command"})
_RUNNERS: Final = {
    "npx": (),
    "bunx": (),
    "uvx": (),
    "pnpx": (),
    "pipx": ("run",),
    "npm": ("exec", "x"),
    "uv": ("tool",),
}
_INSTALLED: Final = frozenset({"npx", "npm", "uvx", "uv"})
"""Runners whose package is installed once, at inspection, and kept."""
_MORE_RUNNERS: Final = {"pnpm": ("dlx",), "yarn": ("dlx",), "bun": ("x",), "deno": ("run",)}
_CONTAINER_WORDS: Final = """
    -e --env -v --volume --mount --name --network --net -u --user --env-file -p --publish --entrypoint -w --workdir -l
    --label --add-host --memory --cpus --platform --pull --cap-add --cap-drop --security-opt --gpus -h --hostname
"""
_CONTAINER_VALUED: Final = frozenset(_CONTAINER_WORDS.split())
_NAMING: Final = frozenset({"-p", "--package", "--from", "--spec"})
"""Options of runners whose value is the name of the package."""
_VALUED: Final = frozenset({"-c", "--call", "--python", "--with", "--index-url", "--registry", "--cache", "-w"})
_CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl"})
_POWERS: Final = frozenset({"--privileged", "--pid=host", "--net=host", "--network=host", "--cap-add=all"})
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def inspect_launch(launch: Launch) -> tuple[Finding, ...]:
    """Return the findings in the command line, the environment or the URL of a server."""
    match launch:
        case StdioLaunch():
            return tuple(_process(launch))
        case RemoteLaunch():
            return tuple(_remote(launch))


def program_name(command: str) -> str:
    """Return the name of a program, without its folders and without an ending that Windows adds."""
    name = PureWindowsPath(PurePosixPath(command).name).name.lower()
    return name.removesuffix(".exe").removesuffix(".cmd").removesuffix(".bat")


def _process(launch: StdioLaunch) -> Iterator[Finding]:
    name = program_name(launch.command)
    whole = Evidence("/command", 0, len(launch.command))
    if name in _SHELLS:
        yield _SHELL.finding_at(whole)
    if name in _FETCHERS:
        yield _DOWNLOAD.finding_at(whole)
    if name in _RIGHTS:
        yield _ROOT.finding_at(whole)
    if runs_files(name) and file_that_runs(name, launch.arguments) is None:
        yield _UNHASHED.finding_at(whole)
    yield from _arguments(name, launch.arguments)
    yield from _packages(name, launch.arguments)
    if secret_in_command(launch.command):
        yield _SECRET.finding_at(whole)
    for at in secret_arguments(launch.arguments):
        yield _SECRET.finding_at(Evidence(f"/arguments/{at}", 0, len(launch.arguments[at])))
    if name in _CONTAINERS:
        yield from _container(launch.arguments)
    for variable in launch.environment:
        if is_code(variable):
            yield _VARIABLE.finding_at(Evidence(f"key:/environment/{_escaped(variable)}", 0, len(variable)))


def _arguments(name: str, arguments: tuple[str, ...]) -> Iterator[Finding]:
    for at, argument in enumerate(arguments):
        evidence = Evidence(f"/arguments/{at}", 0, len(argument))
        if command_in(argument.lower()):
            yield _COMMAND.finding_at(evidence)
        if name.startswith(_INTERPRETERS) and argument.lower() in _CODE_OPTIONS and at + 1 < len(arguments):
            yield _INLINE.finding_at(evidence)
        if program_name(argument) in _SHELLS and (name in _PASSING or (at and arguments[at - 1] in {"-c", "--"})):
            yield _SHELL.finding_at(evidence)


def _packages(name: str, arguments: tuple[str, ...]) -> Iterator[Finding]:
    verbs = {**_RUNNERS, **_MORE_RUNNERS}.get(name)
    if verbs is None or (verbs and (not arguments or arguments[0] not in verbs)):
        return
    start = 2 if name == "uv" else 1 if verbs else 0
    places = range(start, len(arguments))
    named = [at + 1 for at in places if arguments[at] in _NAMING and at + 1 < len(arguments)]
    first = _first(arguments, start)
    for at in named or ([] if first is None else [first]):
        if not is_pinned(arguments[at]):
            rule = _UNVERSIONED if name in _INSTALLED and ":" not in arguments[at] else _UNPINNED
            yield rule.finding_at(Evidence(f"/arguments/{at}", 0, len(arguments[at])))


def _first(arguments: tuple[str, ...], start: int, valued: frozenset[str] = _VALUED) -> int | None:
    """Return the place of the first argument that is neither an option nor the value of one."""
    after_value = False
    for at in range(start, len(arguments)):
        if not after_value and not arguments[at].startswith("-"):
            return at
        after_value = arguments[at] in valued
    return None


def is_pinned(package: str) -> bool:
    """Tell whether a package has one exact version: `name@1.2.3`, `name==1.2.3`, or a commit of a repository."""
    if package.startswith((".", "/", "~")) or "\\" in package:
        return True  # a local path: the fingerprint of the artifact covers it
    name, mark, version = package.rpartition("==") if "==" in package else package.rpartition("@")
    if not mark or not name:
        return False
    if package.startswith(("git+", "http:", "https:", "github:")):
        return len(version) == 40 and all(char in "0123456789abcdef" for char in version)
    parts = version.split("+")[0].split("-")[0].split(".")
    return len(parts) > 1 and all(part.isalnum() for part in parts) and parts[0].isdigit() and "x" not in parts


def _container(arguments: tuple[str, ...]) -> Iterator[Finding]:
    for at, argument in enumerate(arguments):
        evidence = Evidence(f"/arguments/{at}", 0, len(argument))
        if argument.lower() in _POWERS or "docker.sock" in argument:
            yield _ROOT.finding_at(evidence)
    image = _first(arguments, 1, _CONTAINER_VALUED) if arguments[:1] == ("run",) else None
    if image is not None and "@sha256:" not in arguments[image]:
        yield _IMAGE.finding_at(Evidence(f"/arguments/{image}", 0, len(arguments[image])))


def reference_in_code(launch: Launch) -> int | None:
    """Return the place of an argument that decides what code runs and refers to a file; None if there is none.

    Such a reference would let the code change while the launch, and so its fingerprint, stays the same.
    """
    if not isinstance(launch, StdioLaunch):
        return None
    name, words = program_name(launch.command), launch.arguments
    runs_another = name in _RUNNERS or name in _MORE_RUNNERS or name in _SHELLS or name.startswith(_INTERPRETERS)
    start = 1 if name in {"npm", "uv", "pipx", "pnpm", "yarn", "bun", "deno"} else 0
    first = _first(words, start) if runs_another else -1
    for at, word in enumerate(words):
        behind = at > 0 and words[at - 1].lower() in _CODE_OPTIONS | _NAMING
        inside = first is None or at <= first or name in _PASSING or name in _CONTAINERS
        if "${" in word and (behind or inside):
            return at
    return None


def _remote(launch: RemoteLaunch) -> Iterator[Finding]:
    parts = urlsplit(launch.url)
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        yield _PLAIN.finding_at(Evidence("/url", 0, len(launch.url)))
    if secret_in_url(launch.url):
        yield _SECRET.finding_at(Evidence("/url", 0, len(launch.url)))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
