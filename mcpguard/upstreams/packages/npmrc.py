"""Where npm takes packages from, as it is configured for the guard's account.

Rules kept here:
1. Its files are read and npm is not asked: the npm that a declaration leads to may be anybody's, and it would answer
   outside of every sandbox.
2. Nothing is taken from them but registries, certificates and proxies. Where one of those stands as a variable it is
   refused, and not left out: the package might be taken from another registry.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.not_installed import NotInstalled

WANTED: Final = frozenset({"registry", "cafile", "https-proxy", "proxy", "noproxy"})
OF_THE_SYSTEM: Final = Path("/etc/npmrc")
LONGEST: Final = 1024 * 1024
_NOTHING: Final = frozenset({"", "null", "undefined"})


def configured(environ: Mapping[str, str], node: Path, scope: str | None) -> dict[str, str]:
    """`scope` is that of a package (`@scope`), which may have a registry of its own. Raises NotInstalled."""
    wanted = {*WANTED, *([f"{scope}:registry"] if scope else [])}
    found = {}
    for path in _files(environ, node):
        for name, value in _lines(path):
            if name in wanted and value not in _NOTHING:
                if "${" in value:
                    raise NotInstalled(f"{path} gives {name} as a variable: name it in the guard's own environment")
                found[name] = value
    return found


def _files(environ: Mapping[str, str], node: Path) -> Iterator[Path]:
    """Those that count most come last."""
    yield OF_THE_SYSTEM
    yield node.parent.parent / "etc" / "npmrc"
    named = next((value for name, value in environ.items() if name.upper() == "NPM_CONFIG_USERCONFIG" and value), None)
    user = named or f"{environ.get('HOME', '')}/.npmrc"
    if user.startswith("/"):
        yield Path(user)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST).decode(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise NotInstalled(f"{path} cannot be read, and may name a registry: {error.strerror}") from error
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if equals and not name.startswith(("#", ";")):
            yield name.strip("\"'"), value.strip("\"'")
