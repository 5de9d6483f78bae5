"""The settings layer of the environment: `MCPGUARD_…`, `__` for nesting, and `…_FILE` for a file with a secret.

A name with the prefix, in any case, that is not a setting is refused: a misspelt limit that is silently ignored would
not be enforced. Exceptions are `RESERVED`, which are not settings, and inside Kubernetes the names that it sets for a
service called `mcpguard…`. A secret that is given twice is refused; neither takes precedence.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcpguard.settings.fields import Leaf
from mcpguard.settings.layer import LEAVES, SettingsLayer
from mcpguard.settings.problems import ENV_PREFIX, SettingOrigin, printable, unknown_setting

CONFIG: Final = f"{ENV_PREFIX}CONFIG"
RESERVED: Final = (CONFIG, f"{ENV_PREFIX}TOKEN", f"{ENV_PREFIX}TOKEN_FILE")
LARGEST_SECRET: Final = 64 * 1024

_VALUES: Final = {leaf.env: leaf for leaf in LEAVES.values()}
_FILES: Final = {leaf.env_file: leaf for leaf in LEAVES.values() if leaf.env_file is not None}
_KNOWN: Final = (*_VALUES, *_FILES, *RESERVED)

_SERVICE_LINK: Final = re.compile(
    rf"{ENV_PREFIX}(\w+_)?(SERVICE_HOST=.*|SERVICE_PORT(_\w+)?=\d+"
    r"|PORT(_\d+_(TCP|UDP|SCTP))?=(tcp|udp|sctp)://.*|PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=.*)"
)


def environment(environ: Mapping[str, str]) -> SettingsLayer:
    """Return the layer of the environment; what is wrong with it is in its problems."""
    layer = SettingsLayer("environment")
    for name, text in sorted(environ.items()):
        if not name.upper().startswith(ENV_PREFIX) or name in RESERVED:
            continue
        if leaf := _VALUES.get(name):
            layer.put(leaf.key, _parsed(leaf, text), SettingOrigin.environment(name))
        elif leaf := _FILES.get(name):
            _take_file(layer, leaf, Path(text), twice=leaf.env in environ)
        elif not _is_service_link(name, text, environ):
            not_secret = name.removesuffix("_FILE")
            known = [not_secret] if not_secret in _VALUES else _KNOWN
            layer.problems.append(unknown_setting(SettingOrigin.environment(printable(name)).subject, name, known))
    return layer


def _parsed(leaf: Leaf, text: str) -> object:
    if not leaf.many:
        return text
    return [each.strip() for each in text.split(",")] if text.strip() else []


def _take_file(layer: SettingsLayer, leaf: Leaf, path: Path, *, twice: bool) -> None:
    origin = SettingOrigin.environment(f"{leaf.env}_FILE")
    if twice:
        layer.problems.append(f"{leaf.env} and {leaf.env}_FILE are both in the environment; set only one of them")
        return
    try:
        layer.put(leaf.key, _secret(path), origin)
    except OSError as error:
        layer.problems.append(f"{origin.subject} names {path}, which cannot be read: {error.strerror}")
    except ValueError as error:
        layer.problems.append(f"{origin.subject} names {path}, which {error}")


def _secret(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(LARGEST_SECRET + 1)
    if len(data) > LARGEST_SECRET:
        raise ValueError(f"is larger than {LARGEST_SECRET} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise ValueError("is empty")
    return text


def _is_service_link(name: str, text: str, environ: Mapping[str, str]) -> bool:
    return "KUBERNETES_SERVICE_HOST" in environ and _SERVICE_LINK.fullmatch(f"{name}={text}") is not None
