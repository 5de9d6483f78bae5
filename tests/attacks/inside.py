"""What a hostile server tries. It runs as `python -c`, with nothing but Python's own, and prints what came of each.

An attempt that fails tells the name of its error; one that works tells what it got.
"""

import contextlib
import errno
import json
import mmap
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

KEPT: list[socket.socket] = []
FAMILIES = {"unix": socket.AF_UNIX, "vsock": 40, "packet": 17, "alg": 38}


def read(path: str) -> str:
    with Path(path).open("rb") as file:
        return file.read(64).decode(errors="replace")


def write(path: str) -> str:
    with Path(path).open("w") as file:
        file.write("x")
    return "written"


def listed(path: str) -> list[str]:
    return sorted(each.name for each in Path(path).iterdir())


def wait_for(path: str) -> str:
    while not Path(path).exists():
        time.sleep(0.01)
    return "there"


def unix(path: str) -> str:
    """A path, or with @ in front a name without a file."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect("\0" + path[1:] if path.startswith("@") else path)
        return "connected"


def pair(path: str) -> str:
    """A connected pair of datagram sockets can write to a third."""
    with socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0] as ours:
        ours.sendto(b"x", path)
        return "sent"


def named_pair(path: str, kind: str) -> str:
    """One of a connected pair may be given a name, and is a file then."""
    ours, _ = socket.socketpair(socket.AF_UNIX, getattr(socket, kind))
    os.chdir(Path(path).parent)
    ours.bind(Path(path).name)
    KEPT.append(ours)
    return "named"


def node(path: str, mode: int) -> str:
    os.mknod(path, mode)
    return "made"


def change(path: str, mode: int) -> str:
    Path(path).chmod(mode)
    return "changed"


def change_open(path: str, mode: int) -> str:
    with Path(path).open("rb") as file:
        os.fchmod(file.fileno(), mode)
    return "changed"


def create(path: str, mode: int, flags: int = os.O_CREAT | os.O_RDWR) -> str:
    os.close(os.open(path, flags, mode))
    return "made"


def numbered(number: int, *arguments: Any) -> str:  # noqa: ANN401 - words and numbers
    """A call of the kernel by its number, which no library has to know."""
    import ctypes  # noqa: PLC0415 - only this one needs it

    library = ctypes.CDLL(None, use_errno=True)
    given = [each.encode() if isinstance(each, str) else ctypes.c_long(each) for each in arguments]
    if library.syscall(ctypes.c_long(number), *given) < 0:
        raise OSError(ctypes.get_errno(), "call")
    return "done"


def family(name: str) -> str:
    with socket.socket(FAMILIES[name], socket.SOCK_RAW if name == "packet" else socket.SOCK_STREAM):
        return "got one"


def connect(host: str, port: int) -> str:
    with socket.create_connection((host, port), timeout=5):
        return "connected"


def datagram(host: str, port: int) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.sendto(b"x", (host, port))
        return "sent"


def resolve(name: str) -> str:
    socket.getaddrinfo(name, 80)
    return "resolved"


def environment() -> dict[str, str]:
    return dict(os.environ)


def environments() -> list[str]:
    """Those of all processes that are to be seen."""
    return [said for _, said in _of_all("environ")]


def processes() -> list[list[str]]:
    return [[pid, Path(said.split("\0")[0]).name] for pid, said in _of_all("cmdline")]


def _of_all(what: str) -> list[tuple[str, str]]:
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with contextlib.suppress(OSError):
                found.append((each.name, (each / what).read_text(errors="replace")))
    return found


def kill(pid: int) -> str:
    os.kill(pid, signal.SIGKILL)
    return "killed"


def files() -> list[str]:
    """What it finds open."""
    found = []
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them
            found.append(str(each.readlink()))
    return found


def fork_bomb() -> int:
    """How many there are before there can be no more."""
    grown = 0
    while True:
        try:
            if os.fork() == 0:
                time.sleep(3600)
        except OSError as error:
            if error.errno == errno.EAGAIN:
                return grown
            raise
        grown += 1


def allocate(mebibytes: int) -> str:
    held = bytearray(mebibytes * 1024 * 1024)
    return f"got {len(held)}"


def share(mebibytes: int) -> str:
    """Memory that counts as nobody's own."""
    held = mmap.mmap(-1, mebibytes * 1024 * 1024)
    for offset in range(0, len(held), 4096):
        held[offset] = 1
    return "got it"


def many(count: int, mebibytes: int) -> str:
    """Processes, each of which takes less than it may."""
    held = b""
    for _ in range(count):
        if os.fork() == 0:
            held = b"x" * (mebibytes * 1024 * 1024)
            time.sleep(3600)
    time.sleep(3600)
    return str(len(held))


def memory_file() -> str:
    os.close(os.memfd_create("x"))
    return "got one"


def fill(path: str, mebibytes: int) -> str:
    with Path(path).open("wb") as file:
        file.writelines(b"x" * 1024 * 1024 for _ in range(mebibytes))
    return "filled"


def many_files(folder: str) -> str:
    """Empty ones: they take no room, and memory of the kernel."""
    for number in range(10_000_000):
        os.close(os.open(f"{folder}/{number}", os.O_CREAT))
    return "made"


def big_file(path: str, size: int) -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Path(path).open("wb") as file:
        file.truncate(size)
    return "made"


def daemon() -> str:
    """One that has left everything that one can leave, and goes on when its parents have ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for deaf in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(deaf, signal.SIG_IGN)
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        time.sleep(3600)
    os.wait()
    return "left behind"


def into_the_first() -> str:
    """The process that ends everything here when the guard ends: who can write into it can make it forget that."""
    maps = Path("/proc/1/maps").read_text().splitlines()
    with Path("/proc/1/mem").open("r+b", buffering=0) as memory:
        memory.seek(next(int(line.split("-")[0], 16) for line in maps if " r-xp " in line))
        return f"wrote {memory.write(memory.read(1))}"


def namespace() -> str:
    import ctypes  # noqa: PLC0415 - only this one needs it

    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "unshare")
    return "got one"


def call(number: int) -> str:
    import ctypes  # noqa: PLC0415 - only this one needs it

    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(number, 0, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "call")
    return "done"


def watch() -> str:
    """One instance of what tells of changes to files; each user may have so many."""
    import ctypes  # noqa: PLC0415 - only this one needs it

    library = ctypes.CDLL(None, use_errno=True)
    if library.inotify_init1(0) < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    return "watching"


def watches() -> int:
    """As many as there can be."""
    taken = 0
    try:
        while True:
            watch()
            taken += 1
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    return taken


def flood() -> str:
    while True:
        os.write(1, b"x" * 65536)


def told(attempt: list[Any]) -> Any:  # noqa: ANN401 - whatever came of it
    name, *arguments = attempt
    try:
        return globals()[name](*arguments)
    except socket.gaierror:
        return "cannot be resolved"
    except MemoryError:
        return "MemoryError"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, type(error).__name__)


if __name__ == "__main__":
    for each in json.loads(sys.argv[1]):
        print(json.dumps(told(each)), flush=True)  # noqa: T201 - this is how it tells
    sys.stdin.read()
