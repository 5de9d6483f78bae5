"""The file by which the operating system knows the guard as a service of one user.

Rules kept here:
1. A line with the digest of the rest says that mcpguard wrote the file. Any other file, also one that was edited since,
   is neither replaced nor removed; nor is a link.
2. What is written has been shown: if the file is another one by then, nothing is done.
3. A file that the system still starts at each login is not removed: what would be left is a link to nothing.
"""

import os
import re
import shlex
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from mcpguard.agents.program import Home
from mcpguard.cli.service.guard_service import GuardService, ServiceNotChanged
from mcpguard.cli.service.launch_agent import LABEL, launch_agent
from mcpguard.cli.service.systemd_unit import systemd_unit
from mcpguard.store.files.keyfiles import sync_folder

UNIT: Final = "mcpguard.service"
MARK: Final = "Written by mcpguard service install; mcpguard service uninstall removes it. Digest of the rest:"
MARKED: Final = re.compile(rf"(?:# |<!-- ){re.escape(MARK)} ([0-9a-f]{{64}})(?: -->)?\n")
LARGEST: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServicePlace:
    """Where the file is on this system, and the commands that start and stop the service.

    `enabled` is the link by which systemd starts it; launchd has none.
    """

    path: Path
    start: Mapping[str, str]
    """Each command, and what it does."""
    stop: str
    enabled: Path | None = None


def service_place(home: Home) -> ServicePlace:
    """The place in that home. Raises ServiceNotChanged on other systems."""
    match home.platform:
        case "linux":
            folder = home.configuration / "systemd" / "user"
            start = {
                f"systemctl --user enable --now {UNIT}": "start it now and at each login",
                "loginctl enable-linger": "keep it running while you are not signed in",
                f"journalctl --user --unit {UNIT}": "its log, with the link for the first admin",
            }
            stop = f"systemctl --user disable --now {UNIT}"
            return ServicePlace(folder / UNIT, start, stop, folder / "default.target.wants" / UNIT)
        case "darwin":
            path = home.folder / "Library" / "LaunchAgents" / f"{LABEL}.plist"
            load = f"launchctl bootstrap gui/$(id -u) {shlex.quote(str(path))}"
            start = {load: "start it now; it also starts at each login"}
            return ServicePlace(path, start, f"launchctl bootout gui/$(id -u)/{LABEL}")
        case _:
            raise ServiceNotChanged("services can be installed on Linux (systemd) and macOS (launchd) only")


def service_text(platform: str, service: GuardService) -> str:
    """The whole text of the file, with the line that says who wrote it."""
    if platform == "darwin":
        text = launch_agent(service)
        head = text.index("<plist")  # a property list begins with what says that it is one
        return f"{text[:head]}<!-- {MARK} {_digest(text)} -->\n{text[head:]}"
    text = systemd_unit(service)
    return f"# {MARK} {_digest(text)}\n{text}"


def is_ours(text: str) -> bool:
    """Tell whether mcpguard wrote this, and nobody has edited it since."""
    found = MARKED.search(text)
    return found is not None and _digest(text[: found.start()] + text[found.end() :]) == found[1]


def present_text(place: ServicePlace) -> str | None:
    """What mcpguard wrote there, or None without a file. Raises ServiceNotChanged where the file is not ours."""
    try:
        handle = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "is a link" if place.path.is_symlink() else f"cannot be read: {error.strerror}"
        raise ServiceNotChanged(f"{place.path} {why}; nothing was changed") from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise ServiceNotChanged(f"{place.path} is no file of this account; nothing was changed")
        text = os.read(handle, LARGEST).decode(errors="replace")
    finally:
        os.close(handle)
    if not is_ours(text):
        raise ServiceNotChanged(
            f"{place.path} was not written by mcpguard service install, or was edited since; "
            "nothing was changed: move it away first"
        )
    return text


def put_text(place: ServicePlace, text: str, instead_of: str | None) -> None:
    """Write the file whole, readable for this account only. Raises ServiceNotChanged or OSError."""
    place.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{place.path.name}.", dir=place.path.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _refuse_modified(place, instead_of)
        if instead_of is None:
            place.path.hardlink_to(new)  # unlike a replacement, this fails if somebody was faster
        else:
            new.replace(place.path)
    except FileExistsError:
        raise ServiceNotChanged(f"{place.path} was written in the meantime; nothing was changed") from None
    finally:
        new.unlink(missing_ok=True)
    sync_folder(place.path.parent)


def remove_text(place: ServicePlace, present: str) -> None:
    """Remove the file. Raises ServiceNotChanged or OSError."""
    if place.enabled is not None and os.path.lexists(place.enabled):
        raise ServiceNotChanged(f"the service is still enabled; run first: {place.stop}")
    _refuse_modified(place, present)
    place.path.unlink()
    sync_folder(place.path.parent)


def _refuse_modified(place: ServicePlace, expected: str | None) -> None:
    if present_text(place) != expected:
        raise ServiceNotChanged(f"{place.path} was modified in the meantime; nothing was changed")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
