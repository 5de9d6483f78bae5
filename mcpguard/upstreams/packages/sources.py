"""Where packages come from, as far as an installation is told.

Rules kept here:
1. An installer gets none of the guard's environment but what is listed here, and of the server's own no more.
2. It gets no secret: an address with a user name or a password in it is refused, and not left out. Without it the
   package might be taken from another registry, where somebody else may have put one of that name.
3. No check of certificates is weakened. Their files are handed on, but none that a server declares: what is named so
   would be seen by what installs it, and need be no certificate. Nor does a proxy count that a server declares: it
   would be a way around the judgement of where an installation may lead (`outlet`).
4. Whatever else is configured for npm or uv is not read by them. Of npm's configuration some is handed on (`npmrc`); of
   uv's nothing is known but that it names an index, which is refused.
"""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.transports.remotes import PORTS, BadRemote, place

Origin = tuple[str, int]
"""A host and a port."""
EVERYBODYS: Final = ("https://registry.npmjs.org", "https://pypi.org", "https://files.pythonhosted.org")
"""Where packages come from when nobody says otherwise. A machine's owner may have these names lead to copies inside."""
_PROXIES: Final = frozenset({"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY"})
_PAST_THEM: Final = frozenset({"NO_PROXY", "NPM_CONFIG_NOPROXY"})
_NETWORK: Final = _PROXIES | _PAST_THEM
_CERTIFICATES: Final = frozenset({"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NPM_CONFIG_CAFILE"})
NPM: Final = _NETWORK | (_CERTIFICATES - {"SSL_CERT_FILE", "SSL_CERT_DIR"}) | {"NPM_CONFIG_REGISTRY"}
UV: Final = (
    frozenset({"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"})
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"}
    | {"UV_INDEX_STRATEGY", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "UV_EXCLUDE_NEWER"}
)
_OF_PIP: Final = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_CERT": "SSL_CERT_FILE"}
"""What means the same to pip, on machines where only that is configured."""
_NAMED_INDEX: Final = frozenset({"UV_DEFAULT_INDEX", "UV_INDEX_URL"})
_NOT_DECLARED: Final = _CERTIFICATES | _NETWORK
_INDEXES: Final = ("index", "index-url", "extra-index-url", "find-links")
LONGEST: Final = 1024 * 1024


def for_npm(ours: Mapping[str, str], declared: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """The environment of npm, but for what it needs to run. `configured` is what npm's files say."""
    asked = {f"npm_config_{name.replace('-', '_')}": value for name, value in configured.items()}
    return without_secrets({**asked, **_listed(ours, NPM), **_listed(declared, NPM - _NOT_DECLARED)})


def for_uv(ours: Mapping[str, str], declared: Mapping[str, str]) -> dict[str, str]:
    """The environment of uv, but for what it needs to run."""
    of_pip = {_OF_PIP[name]: value for name, value in ours.items() if name in _OF_PIP}
    ours, declared = _listed(ours, UV), _listed(declared, UV - _NOT_DECLARED)
    if _NAMED_INDEX & (ours.keys() | declared.keys()):
        of_pip.pop("UV_DEFAULT_INDEX", None)
    return without_secrets({**of_pip, **ours, **declared})


def has_proxy(environment: Mapping[str, str]) -> bool:
    """Whether an installation goes through a proxy of the machine's owner."""
    return any(name.upper() in _PROXIES for name in environment)


def through(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The same, with this as the proxy for everything."""
    others = {name: value for name, value in environment.items() if name.upper() not in _NETWORK}
    return {**others, "HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url}


def origins(values: Iterable[str]) -> frozenset[Origin]:
    """Everybody's registries, and the addresses in `values`: lists of them, which may have names (`name=https://…`)."""
    found = set()
    for word in (word for value in (*EVERYBODYS, *values) for word in value.split()):
        at = max(word.find(f"{scheme}://") for scheme in PORTS)
        with suppress(BadRemote):
            there = place(word[max(at, 0) :])
            found.add((there.host, there.port))
    return frozenset(found)


def certificates(environment: Mapping[str, str]) -> Iterator[Path]:
    """The files and folders that it names, which have to be seen."""
    for name, value in environment.items():
        if name.upper() in _CERTIFICATES:
            yield from (Path(each) for each in value.split(os.pathsep) if each.startswith("/"))


def no_index_of_uv(environment: Mapping[str, str], ours: Mapping[str, str]) -> None:
    """Raises NotInstalled where uv's own configuration names an index, and nobody named one for the guard."""
    if environment.keys() & {*_NAMED_INDEX, "UV_INDEX"}:
        return
    homes = [ours.get("XDG_CONFIG_HOME") or f"{ours.get('HOME', '')}/.config", "/etc"]
    for path in (Path(home) / "uv" / "uv.toml" for home in homes if home.startswith("/")):
        if path.is_file() and _names_an_index(path):
            raise NotInstalled(
                f"{path} names package indexes, which an installation does not read: name the one to use in the "
                "guard's environment, as UV_DEFAULT_INDEX"
            )


def _names_an_index(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            told = tomllib.loads(file.read(LONGEST).decode())
    except (OSError, ValueError) as error:
        raise NotInstalled(f"{path} cannot be read, and may name package indexes: {error}") from error
    pip = told.get("pip")
    return any(name in each for each in (told, pip if isinstance(pip, dict) else {}) for name in _INDEXES)


def _listed(given: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    """npm's names, and those of proxies, have no case. Written in one way, so that one wins over the other."""
    kept = {}
    for name, value in given.items():
        upper = name.upper()
        if value and upper in names:
            kept[upper.lower() if upper.startswith("NPM_") else upper] = value
    return kept


def without_secrets(environment: dict[str, str]) -> dict[str, str]:
    for name, value in environment.items():
        if any(_holds_a_secret(word) for word in value.split()):
            raise NotInstalled(
                f"the address in {name} holds a user name or a password, and an installation gets no secret"
            )
    return environment


def _holds_a_secret(word: str) -> bool:
    """Also in a list where each address has a name, and in an address without its scheme."""
    _, scheme, address = word.partition("://")
    return "@" in (address if scheme else word).partition("/")[0]
