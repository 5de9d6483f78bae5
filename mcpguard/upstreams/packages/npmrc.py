"""Reads which registry npm uses, as configured for the guard's account.

Rules kept here:
1. The files are read directly instead of asking npm: the npm that a declaration leads to may be an attacker's program,
   and it would run outside of every sandbox.
2. Only registries, certificates and proxies are used. A value with a variable in it is refused rather than ignored:
   without it the package might come from another registry (dependency confusion).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.not_installed import NotInstalled

WANTED: Final = frozenset({"registry", "cafile", "https-proxy", "proxy", "noproxy"})
OF_THE_SYSTEM: Final = Path("/etc/npmrc")
LONGEST: Final = 1024 * 1024
_NOTHING: Final = frozenset({"", "null", "undefined"})


def npm_settings(environ: Mapping[str, str], node: Path, scope: str | None) -> dict[str, str]:
    """Return the settings that count. `scope` (`@scope`) may have a registry of its own. Raises NotInstalled."""
    wanted = {*WANTED, *([f"{scope}:registry"] if scope else [])}
    found = {}
    for path in _files(environ, node):
        for name, value in _lines(path):
            if name in wanted and value not in _NOTHING:
                # npm would replace it from its environment, which an installation does not have.
                if "${" in value:
                    raise NotInstalled(f"{path} sets {name} to a variable; set it in the guard's own environment")
                found[name] = value
    return found


def _files(environ: Mapping[str, str], node: Path) -> Iterator[Path]:
    """Yield the configuration files, those with the highest priority last."""
    yield OF_THE_SYSTEM
    yield node.parent.parent / "etc" / "npmrc"
    named = next((value for name, value in environ.items() if name.upper() == "NPM_CONFIG_USERCONFIG" and value), None)
    user = named or f"{environ.get('HOME', '')}/.npmrc"
    if user.startswith("/"):
        yield Path(user)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open("rb") as file:
            # Bounded: the path comes from the environment, and may lead to a file without an end.
            text = file.read(LONGEST).decode(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise NotInstalled(f"cannot read {path}, which may name a registry: {error.strerror}") from error
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if equals and not name.startswith(("#", ";")):
            yield name.strip("\"'"), value.strip("\"'")
