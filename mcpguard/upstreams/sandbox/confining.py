"""From how a server is started to how it is started confined.

It looks at the disk, and into every folder that is mounted; so it is called in a thread, as secrets are read.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mcpguard.domain.servers.launches import Mount, Profile
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.stdio import Launch
from mcpguard.upstreams.sandbox.command_files import found, needed
from mcpguard.upstreams.sandbox.keeping import KeptPath, opened, seen_as_kept
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.mounts import admitted, apart, free
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind, Place, system
from mcpguard.upstreams.sandbox.wrapping import HOME, OUR_PATH, TEMPORARY, Sandbox, WantedProgram, seen, wrapped

ANYWHERE = Path("/")
SHARING = 0o002
"""What servers make can be changed by their group: with a guard that is root, each is a user of its own."""


def confined(
    launch: Launch,
    profile: Profile,
    mounts: Iterable[Mount],
    sandbox: Sandbox,
    data: Path,
    limits: ProcessLimits,
    *,
    own: Collection[Bind] = (),
    besides: Iterable[Place] = (),
    kept: Collection[KeptPath] = (),
) -> Launch:
    """`data` is the data directory. Raises NotConfined: what cannot be confined as it was asked for is not started.

    `own` are folders of the guard that are to be seen, elsewhere than where they are; nothing else may lie in the data
    directory. `besides` is what has to be seen besides what the program needs. `kept` is seen as it was read, wherever
    it is seen.
    """
    if profile is Profile.NONE:
        return launch
    program = found(launch.command, launch.environment, launch.folder)
    mounted = list(admitted(mounts, data, sandbox.account, sandbox.group))
    places: list[Place] = [
        *system(network=profile is Profile.CONTAINED),
        *needed(program, launch.environment),
        *besides,
        *mounted,
    ]
    apart(places, data)
    free(own, places)
    if launch.folder and not seen(launch.folder, [*mounted, *own]):
        raise NotConfined(f"its working directory {launch.folder} is not among what is mounted")
    first = [*places, *own]
    seen_so = list(seen_as_kept(kept, places))
    exposed = {place.at: each.exposed for each, place in seen_so if each.exposed}
    words = wrapped(
        sandbox,
        WantedProgram(
            [str(program), *launch.arguments],
            _environment(launch.environment, mounted),
            str(launch.folder or HOME),
            [*opened(first, exposed), *(place for _, place in seen_so)],
            profile,
            limits,
            first if exposed else (),
        ),
    )
    outside = {"PATH": OUR_PATH} | {name: value for name, value in launch.environment.items() if name == MARK}
    command = words[0]
    assert isinstance(command, str)  # noqa: S101 - it is a program
    umask = SHARING if sandbox.drops else None
    return replace(launch, command=command, arguments=words[1:], environment=outside, folder=ANYWHERE, umask=umask)


def _environment(given: Mapping[str, str], mounted: Iterable[Bind]) -> dict[str, str]:
    """Those that name a home or a place for temporary files are its own; one that is mounted stays."""
    own = {"HOME": HOME, "TMPDIR": TEMPORARY, "XDG_CACHE_HOME": f"{HOME}/.cache"}
    roots = [place.at for place in mounted]
    kept = {name for name in own if any(Path(given.get(name, "")).is_relative_to(root) for root in roots)}
    return {**given, **{name: value for name, value in own.items() if name not in kept}}
