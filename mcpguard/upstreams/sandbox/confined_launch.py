"""Turns a launch into a confined one.

This reads the disk, including every mounted folder, so it must be called in a thread.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mcpguard.domain.servers.launches import Mount, Profile
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.bwrap_command import (
    HOME,
    OUR_PATH,
    TEMPORARY,
    Sandbox,
    WantedProgram,
    bwrap_command,
    is_visible,
)
from mcpguard.upstreams.sandbox.command_files import needed_places, require_program
from mcpguard.upstreams.sandbox.kept_files import KeptPath, kept_places, unfold_binds
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.mounts import admit_mounts, check_data_hidden, check_own_paths
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind, Place, system_places

ANYWHERE = Path("/")
SHARING = 0o002
"""The umask of servers where the guard is root: their group may change their files, as each is a user of its own."""


def confine_launch(
    launch: ProcessLaunch,
    profile: Profile,
    mounts: Iterable[Mount],
    sandbox: Sandbox,
    data: Path,
    limits: ProcessLimits,
    *,
    own: Collection[Bind] = (),
    besides: Iterable[Place] = (),
    kept: Collection[KeptPath] = (),
) -> ProcessLaunch:
    """Return the launch that runs in the sandbox. Raises NotConfined: nothing is started with less than was asked for.

    `data` is the data directory. `own` are folders of the guard that are shown at another path; nothing else that is
    shown may lie in the data directory. `besides` is shown besides what the program needs. `kept` is shown as it was
    read, wherever it is visible.
    """
    if profile is Profile.NONE:
        return launch
    program = require_program(launch.command, launch.environment, launch.folder)
    mounted = list(admit_mounts(mounts, data, sandbox.account, sandbox.group))
    places: list[Place] = [
        *system_places(network=profile is Profile.CONTAINED),
        *needed_places(program, launch.environment),
        *besides,
        *mounted,
    ]
    # Checked for all places, not only for mounts: a program's own folder could contain the data directory.
    check_data_hidden(places, data)
    check_own_paths(own, places)
    if launch.folder and not is_visible(launch.folder, [*mounted, *own]):
        raise NotConfined(f"its working directory {launch.folder} is not mounted; add it to the mounts")
    first = [*places, *own]
    seen_so = list(kept_places(kept, places))
    # Only where others can change a file on the way: making folders anew is slow, and unnecessary elsewhere.
    exposed = {place.at: each.exposed for each, place in seen_so if each.exposed}
    words = bwrap_command(
        sandbox,
        WantedProgram(
            [str(program), *launch.arguments],
            _environment(launch.environment, mounted),
            str(launch.folder or HOME),
            [*unfold_binds(first, exposed), *(place for _, place in seen_so)],
            profile,
            limits,
            first if exposed else (),
        ),
    )
    # bubblewrap gets none of the server's variables, as LD_PRELOAD would run the server's code outside. The mark stays:
    # it attributes the processes to the server.
    outside = {"PATH": OUR_PATH} | {name: value for name, value in launch.environment.items() if name == MARK}
    command = words[0]
    assert isinstance(command, str)  # noqa: S101 - it is a program
    umask = SHARING if sandbox.drops else None
    return replace(launch, command=command, arguments=words[1:], environment=outside, folder=ANYWHERE, umask=umask)


def _environment(given: Mapping[str, str], mounted: Iterable[Bind]) -> dict[str, str]:
    """Return the environment with the sandbox's own home and temporary folder, unless a mounted folder is named."""
    own = {"HOME": HOME, "TMPDIR": TEMPORARY, "XDG_CACHE_HOME": f"{HOME}/.cache"}
    roots = [place.at for place in mounted]
    kept = {name for name in own if any(Path(given.get(name, "")).is_relative_to(root) for root in roots)}
    return {**given, **{name: value for name, value in own.items() if name not in kept}}
