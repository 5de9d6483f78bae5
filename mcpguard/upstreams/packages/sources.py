"""Chooses the settings for package sources that an installer gets.

Rules kept here:
1. An installer gets only the listed variables of the guard's environment, and of the server's own.
2. It gets no secret: a URL with a user name or a password is refused, not dropped. Without the URL the package might
   come from another registry, where an attacker may have published one of the same name (dependency confusion).
3. Certificate checks are never weakened. The guard's certificate files are passed on, but not those that a server
   declares: the installer could read any file named this way. A declared proxy is ignored too: it would bypass the
   check of connection targets (`outlet`).
4. npm and uv read no other configuration. Some of npm's is passed on (`npmrc`); uv's is only checked for an index, and
   the installation is refused if it names one.
"""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.transports.remotes import PORTS, BadRemote, parse_url

Origin = tuple[str, int]
"""A host and a port."""
EVERYBODYS: Final = ("https://registry.npmjs.org", "https://pypi.org", "https://files.pythonhosted.org")
"""The default registries. A host's owner may have these names resolve to internal mirrors."""
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
"""pip's variables with the same meaning, for hosts where only pip is configured."""
_NAMED_INDEX: Final = frozenset({"UV_DEFAULT_INDEX", "UV_INDEX_URL"})
_NOT_DECLARED: Final = _CERTIFICATES | _NETWORK
_INDEXES: Final = ("index", "index-url", "extra-index-url", "find-links")
LONGEST: Final = 1024 * 1024


def for_npm(ours: Mapping[str, str], declared: Mapping[str, str], configured: Mapping[str, str]) -> dict[str, str]:
    """Return npm's variables about sources. `configured` are the settings from npm's files."""
    asked = {f"npm_config_{name.replace('-', '_')}": value for name, value in configured.items()}
    return check_no_secrets({**asked, **_listed(ours, NPM), **_listed(declared, NPM - _NOT_DECLARED)})


def for_uv(ours: Mapping[str, str], declared: Mapping[str, str]) -> dict[str, str]:
    """Return uv's variables about sources."""
    of_pip = {_OF_PIP[name]: value for name, value in ours.items() if name in _OF_PIP}
    ours, declared = _listed(ours, UV), _listed(declared, UV - _NOT_DECLARED)
    # pip's index counts only where none is named for uv itself.
    if _NAMED_INDEX & (ours.keys() | declared.keys()):
        of_pip.pop("UV_DEFAULT_INDEX", None)
    return check_no_secrets({**of_pip, **ours, **declared})


def has_proxy(environment: Mapping[str, str]) -> bool:
    """Tell whether an installation goes through a proxy that the host's owner configured."""
    return any(name.upper() in _PROXIES for name in environment)


def with_proxy(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with this proxy for everything."""
    # NO_PROXY has to go as well: an exception in it would be a way around the check of addresses.
    others = {name: value for name, value in environment.items() if name.upper() not in _NETWORK}
    return {**others, "HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url}


def origins(values: Iterable[str]) -> frozenset[Origin]:
    """Return the default registries and those in `values`: lists of URLs, which may have names (`name=https://…`)."""
    found = set()
    for word in (word for value in (*EVERYBODYS, *values) for word in value.split()):
        at = max(word.find(f"{scheme}://") for scheme in PORTS)
        with suppress(BadRemote):
            there = parse_url(word[max(at, 0) :])
            found.add((there.host, there.port))
    return frozenset(found)


def certificates(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the certificate files and folders that the environment names; the installer has to see them."""
    for name, value in environment.items():
        if name.upper() in _CERTIFICATES:
            yield from (Path(each) for each in value.split(os.pathsep) if each.startswith("/"))


def check_no_uv_index(environment: Mapping[str, str], ours: Mapping[str, str]) -> None:
    """Raise NotInstalled where uv's own configuration names an index, and the guard's environment names none."""
    if environment.keys() & {*_NAMED_INDEX, "UV_INDEX"}:
        return
    homes = [ours.get("XDG_CONFIG_HOME") or f"{ours.get('HOME', '')}/.config", "/etc"]
    for path in (Path(home) / "uv" / "uv.toml" for home in homes if home.startswith("/")):
        if path.is_file() and _names_an_index(path):
            raise NotInstalled(
                f"{path} names a package index, which an installation does not read; set UV_DEFAULT_INDEX in the "
                "guard's environment"
            )


def _names_an_index(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            told = tomllib.loads(file.read(LONGEST).decode())
    except (OSError, ValueError) as error:
        raise NotInstalled(f"cannot read {path}, which may name a package index: {error}") from error
    pip = told.get("pip")
    return any(name in each for each in (told, pip if isinstance(pip, dict) else {}) for name in _INDEXES)


def _listed(given: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    """Return the listed variables in one spelling: npm's and proxies' names ignore case, and only one may win."""
    kept = {}
    for name, value in given.items():
        upper = name.upper()
        if value and upper in names:
            kept[upper.lower() if upper.startswith("NPM_") else upper] = value
    return kept


def check_no_secrets(environment: dict[str, str]) -> dict[str, str]:
    for name, value in environment.items():
        if any(_holds_a_secret(word) for word in value.split()):
            raise NotInstalled(
                f"the URL in {name} contains credentials, and an installation gets no secrets; use a URL without them"
            )
    return environment


def _holds_a_secret(word: str) -> bool:
    """Tell whether a URL holds credentials; also one with a name before it, or without its scheme."""
    _, scheme, address = word.partition("://")
    return "@" in (address if scheme else word).partition("/")[0]
