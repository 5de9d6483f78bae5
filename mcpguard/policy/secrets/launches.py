"""Detects secrets written out in a launch: in the command, the arguments or the URL.

There they are exposed to anyone who can list processes, read a proxy's log, or view the server. A reference to a file
is not a secret.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from mcpguard.policy.secrets.detection import NOTHING, find_secrets
from mcpguard.policy.secrets.known_secrets import is_secret_name

HIDDEN: Final = "⟨secret, not shown⟩"
_REFERENCE: Final = re.compile(r"\$\{file:[^{}]*\}")
_PASSWORD: Final = re.compile(r"://[^/\s:@]*:(?:[^/\s@]+|(?![0-9]+[/?#])[^\s@]{1,200})@")
"""Without the scheme: a search for it would start at every letter of a long word."""
_GIVEN: Final = re.compile(r"(?:^|[\s,;&?/])([\w.-]{1,100}) ?= ?([^\s,;&=]+)")
_MEMBER: Final = re.compile(r"[\"']([\w.-]{1,100})[\"'] ?: ?[\"']([^\"']+)")
"""A member of a JSON object."""
_COLON: Final = re.compile(r"(?:--?|/)([A-Za-z][\w.-]*):([^\s/]\S*)")
"""An option with a colon, as some programs take them."""
_HEADER: Final = re.compile(r"([A-Za-z][\w-]{0,100}): *(\S+)")
_OPTION: Final = re.compile(r"--?[A-Za-z][\w.-]*")
_SCHEME: Final = re.compile(r"\b(Bearer|Basic|Token) +[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE)
_PASS: Final = re.compile(r"(?:.*[-_.])?(?:pass|pw|jwt|pat|bearer)", re.IGNORECASE)
_KEY: Final = re.compile(r"(?:account|encryption|master|shared|signing)[_-]?key$", re.IGNORECASE)
_OF_URLS: Final = frozenset({"key", "sig"})
"""Parameters that are secrets in URLs, and often something else elsewhere."""
_PASSPHRASE: Final = re.compile(r"pass|pwd|pw|secret", re.IGNORECASE)
_SETTINGS: Final = frozenset({"none", "true", "false", "yes", "no", "on", "off", "basic", "bearer", "oauth", "oauth2"})
"""Values of options with the name of a secret that are no secrets."""
_PATH: Final = re.compile(r"(~|\.{1,2})?/[\w./ -]*")
_ABOUT: Final = re.compile(r"(file|path|dir|folder|env|var|name|type|url|mode|header)$", re.IGNORECASE)
"""Endings of names that refer to a secret or describe it, and are none."""


def looks_secret(text: str) -> bool:
    """Tell whether a text contains a password in a URL, or anything that a rule takes for a secret."""
    return _PASSWORD.search(text) is not None or find_secrets(text) != NOTHING


def secret_arguments(arguments: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of arguments that look like a secret, or follow an option with the name of one."""
    alone = {at for at, word in enumerate(arguments) if _holds_one(word)}
    paired = {
        at
        for at, (option, value) in enumerate(pairwise(arguments), start=1)
        if _OPTION.fullmatch(option) and _holds_secret(option) and _is_value(option, value)
    }
    return tuple(sorted(alone | paired))


def secret_in_command(command: str) -> bool:
    """Tell whether the command is a whole command line that contains what looks like a secret."""
    return bool(secret_arguments([command]) or secret_arguments(command.split()))


def secret_in_url(url: str) -> bool:
    """Tell whether a URL contains what looks like a secret, or a parameter with the name of one."""
    given = {name for name, value in (*_query(url), *_GIVEN.findall(url)) if value}
    return looks_secret(url) or any(_holds_secret(name) or name.lower() in _OF_URLS for name in given)


def shown_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments for display: those with a secret are hidden completely."""
    hidden = set(secret_arguments(arguments))
    return tuple(HIDDEN if at in hidden else word for at, word in enumerate(arguments))


def shown_command(command: str) -> str:
    """Return the command for display."""
    return HIDDEN if secret_in_command(command) else command


def shown_url(url: str) -> str:
    """Return the URL for display: without its parameters if one may be a secret."""
    if not secret_in_url(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if secret_in_url(bare):
        return HIDDEN
    return f"{bare}?{HIDDEN}" if parts.query else bare


def _holds_one(word: str) -> bool:
    written = _REFERENCE.sub("", word)
    if looks_secret(written) or _SCHEME.search(written):
        return True
    option, _, rest = word.partition("=")
    whole = [found.groups() for form in (_HEADER, _COLON) if (found := form.fullmatch(word))]
    named = [(option, rest), *_GIVEN.findall(word), *_GIVEN.findall(rest), *_MEMBER.findall(word), *whole]
    return any(_holds_secret(name) and _is_value(name, value) for name, value in named)


def _is_value(name: str, word: str) -> bool:
    """Tell whether a word may be the secret itself: not an option, path, reference or plain setting."""
    if not word or word.startswith("-") or _REFERENCE.search(word) or word.lower() in _SETTINGS:
        return False
    return _PASSPHRASE.search(name) is not None or not (word.isdigit() or _PATH.fullmatch(word))


def _holds_secret(name: str) -> bool:
    called = is_secret_name(name) or _PASS.fullmatch(name) is not None or _KEY.search(name) is not None
    return called and _ABOUT.search(name) is None


def _query(url: str) -> Iterator[tuple[str, str]]:
    try:
        yield from parse_qsl(urlsplit(url).query)
    except ValueError:
        return  # an invalid URL is reported when it is declared
