"""What inspection finds in how a server is launched or reached (T24).

Evidence is a place in the launch: `/command`, `/arguments/0`, `/url`, or a variable's or header's name. Values of the
environment are templates that may hold secrets: only their names are looked at.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import Launch, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.runners import file_run, runs_files
from mcpguard.inspection.detectors.commands import command as command_in
from mcpguard.inspection.detectors.detector import DetectorRule
from mcpguard.policy.secrets.launches import secret_arguments, secret_in_command, secret_in_url

_UNPINNED: Final = DetectorRule(
    "launch.unpinned",
    "T24",
    Severity.MEDIUM,
    0.3,
    "It runs whatever version of a package is published at the time; name an exact version",
)
_UNVERSIONED: Final = DetectorRule(
    "launch.unversioned",
    "T24",
    Severity.LOW,
    0.1,
    "The newest version of its package is installed whenever it is inspected; name an exact version",
)
_SHELL: Final = DetectorRule("launch.shell", "T24", Severity.HIGH, 0.5, "It runs a shell, which can run anything")
_INLINE: Final = DetectorRule("launch.inline", "T24", Severity.HIGH, 0.5, "Its code stands in its arguments")
_DOWNLOAD: Final = DetectorRule(
    "launch.download", "T24", Severity.CRITICAL, 0.8, "It fetches code and runs it", hard=True
)
_COMMAND: Final = DetectorRule(
    "launch.command", "T24", Severity.CRITICAL, 0.8, "Its arguments hold a dangerous command", hard=True
)
_VARIABLE: Final = DetectorRule("launch.variable", "T24", Severity.MEDIUM, 0.2, "A variable decides what code it runs")
_ROOT: Final = DetectorRule(
    "launch.privileged", "T24", Severity.HIGH, 0.5, "It asks for more rights than it was started with"
)
_IMAGE: Final = DetectorRule(
    "launch.image", "T24", Severity.MEDIUM, 0.25, "It runs an image that is not named by its digest"
)
_PLAIN: Final = DetectorRule(
    "launch.plaintext", "T24", Severity.MEDIUM, 0.2, "What it is sent can be read and changed on the way"
)
_SECRET: Final = DetectorRule(
    "launch.secret", "T15", Severity.HIGH, 0.6, "A secret is written out in its command line or URL"
)
_UNHASHED: Final = DetectorRule(
    "launch.unhashed",
    "T24",
    Severity.LOW,
    0.1,
    "Its program runs another one or a file, and which cannot be told: if that is exchanged, nobody notices",
)
RULES: Final = (
    _UNPINNED,
    _UNVERSIONED,
    _UNHASHED,
    _SHELL,
    _INLINE,
    _DOWNLOAD,
    _COMMAND,
    _VARIABLE,
    _ROOT,
    _IMAGE,
    _PLAIN,
    _SECRET,
)

_SHELLS: Final = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh", "busybox", "wscript", "cscript", "mshta"}
)
_FETCHERS: Final = frozenset({"curl", "wget", "aria2c", "certutil", "bitsadmin"})
_RIGHTS: Final = frozenset({"sudo", "doas", "su", "pkexec", "runas"})
_PASSING: Final = frozenset({"env", "sudo", "doas", "nohup", "timeout", "nice", "setsid", "xargs"})
"""What runs the program that is named behind it."""
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
"""What they run is installed once, at the inspection, and kept."""
_MORE_RUNNERS: Final = {"pnpm": ("dlx",), "yarn": ("dlx",), "bun": ("x",), "deno": ("run",)}
_CONTAINER_WORDS: Final = """
    -e --env -v --volume --mount --name --network --net -u --user --env-file -p --publish --entrypoint -w --workdir -l
    --label --add-host --memory --cpus --platform --pull --cap-add --cap-drop --security-opt --gpus -h --hostname
"""
_CONTAINER_VALUED: Final = frozenset(_CONTAINER_WORDS.split())
_NAMING: Final = frozenset({"-p", "--package", "--from", "--spec"})
"""Options of runners whose value is the package."""
_VALUED: Final = frozenset({"-c", "--call", "--python", "--with", "--index-url", "--registry", "--cache", "-w"})
_CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl"})
_POWERS: Final = frozenset({"--privileged", "--pid=host", "--net=host", "--network=host", "--cap-add=all"})
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def launched(launch: Launch) -> tuple[Finding, ...]:
    match launch:
        case StdioLaunch():
            return tuple(_process(launch))
        case RemoteLaunch():
            return tuple(_remote(launch))


def program(command: str) -> str:
    """The name of what is run, without folders and without an ending that Windows adds."""
    name = PureWindowsPath(PurePosixPath(command).name).name.lower()
    return name.removesuffix(".exe").removesuffix(".cmd").removesuffix(".bat")


def _process(launch: StdioLaunch) -> Iterator[Finding]:
    name = program(launch.command)
    whole = Evidence("/command", 0, len(launch.command))
    if name in _SHELLS:
        yield _SHELL.at(whole)
    if name in _FETCHERS:
        yield _DOWNLOAD.at(whole)
    if name in _RIGHTS:
        yield _ROOT.at(whole)
    if runs_files(name) and file_run(name, launch.arguments) is None:
        yield _UNHASHED.at(whole)
    yield from _arguments(name, launch.arguments)
    yield from _packages(name, launch.arguments)
    if secret_in_command(launch.command):
        yield _SECRET.at(whole)
    for at in secret_arguments(launch.arguments):
        yield _SECRET.at(Evidence(f"/arguments/{at}", 0, len(launch.arguments[at])))
    if name in _CONTAINERS:
        yield from _container(launch.arguments)
    for variable in launch.environment:
        if is_code(variable):
            yield _VARIABLE.at(Evidence(f"key:/environment/{_escaped(variable)}", 0, len(variable)))


def _arguments(name: str, arguments: tuple[str, ...]) -> Iterator[Finding]:
    for at, argument in enumerate(arguments):
        evidence = Evidence(f"/arguments/{at}", 0, len(argument))
        if command_in(argument.lower()):
            yield _COMMAND.at(evidence)
        if name.startswith(_INTERPRETERS) and argument.lower() in _CODE_OPTIONS and at + 1 < len(arguments):
            yield _INLINE.at(evidence)
        if program(argument) in _SHELLS and (name in _PASSING or (at and arguments[at - 1] in {"-c", "--"})):
            yield _SHELL.at(evidence)


def _packages(name: str, arguments: tuple[str, ...]) -> Iterator[Finding]:
    verbs = {**_RUNNERS, **_MORE_RUNNERS}.get(name)
    if verbs is None or (verbs and (not arguments or arguments[0] not in verbs)):
        return
    start = 2 if name == "uv" else 1 if verbs else 0
    places = range(start, len(arguments))
    named = [at + 1 for at in places if arguments[at] in _NAMING and at + 1 < len(arguments)]
    first = _first(arguments, start)
    for at in named or ([] if first is None else [first]):
        if not pinned(arguments[at]):
            rule = _UNVERSIONED if name in _INSTALLED and ":" not in arguments[at] else _UNPINNED
            yield rule.at(Evidence(f"/arguments/{at}", 0, len(arguments[at])))


def _first(arguments: tuple[str, ...], start: int, valued: frozenset[str] = _VALUED) -> int | None:
    """The first argument that is neither an option nor the value of one."""
    after_value = False
    for at in range(start, len(arguments)):
        if not after_value and not arguments[at].startswith("-"):
            return at
        after_value = arguments[at] in valued
    return None


def pinned(package: str) -> bool:
    """Whether a package is named with one exact version: `name@1.2.3`, `name==1.2.3`, or a commit of a repository."""
    if package.startswith((".", "/", "~")) or "\\" in package:
        return True  # what lies on this machine is the artifact's matter
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
            yield _ROOT.at(evidence)
    image = _first(arguments, 1, _CONTAINER_VALUED) if arguments[:1] == ("run",) else None
    if image is not None and "@sha256:" not in arguments[image]:
        yield _IMAGE.at(Evidence(f"/arguments/{image}", 0, len(arguments[image])))


def reference_in_code(launch: Launch) -> int | None:
    """The place of an argument that decides what code runs and refers to a file; None if there is none.

    With a reference there, the code would change and the launch would not.
    """
    if not isinstance(launch, StdioLaunch):
        return None
    name, words = program(launch.command), launch.arguments
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
        yield _PLAIN.at(Evidence("/url", 0, len(launch.url)))
    if secret_in_url(launch.url):
        yield _SECRET.at(Evidence("/url", 0, len(launch.url)))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
