"""Reads the launch of a server from its entry: a command or a URL, with all related keys.

Rules kept here:
1. An entry has either `command` or `url`, and a matching transport. The older SSE is used if it is named, or if no
   transport is named and the path of the URL ends in `/sse`, as is usual for such servers.
2. Only the environment, headers and, for files, arguments may have references. A URL has no user, password or fragment.
3. The default sandbox is the strictest. Folders that a server sees are named one by one.
4. Headers of the protocol or of the connection cannot be set.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mcpguard.domain.servers.launches import (
    OWN_SERVER,
    Launch,
    Mount,
    Profile,
    RemoteLaunch,
    StdioFraming,
    StdioLaunch,
)
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.entry import EntryReader, member_place, shown_name
from mcpguard.settings.entries.references import VARIABLE, BadTemplate, literals, references_in

MOST_ARGUMENT_BYTES: Final = 64 * 1024
LONGEST_URL: Final = 2048
MOST_MOUNTS: Final = 50

KINDS: Final = ("type", "transport", "protocol")
URLS: Final = ("url", "httpUrl", "serverUrl")
FOLDERS: Final = ("cwd", "working_dir")
_TRANSPORTS: Final[Mapping[str, Transport | None]] = MappingProxyType(
    {
        "stdio": Transport.STDIO,
        "http": Transport.HTTP,
        "streamablehttp": Transport.HTTP,
        "sse": Transport.SSE,
        "auto": None,
    }
)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_NOT_IN_HEADER: Final = re.compile(r"[^\t -~]")
_OURS: Final = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "keep-alive",
        "last-event-id", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
_NOT_IN_URL: Final = re.compile(r"[^!-~]|[\\\"<>^`{|}]")
_OLD: Final = re.compile(r"\w+://[^?#]*[^/?#]/sse/?(?:[?#].*)?")
"""The usual form of URLs of servers that speak the older SSE."""
_NO_HOST: Final = "must have a host, and a port from 1 to 65535 if it has one"
_HOST: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")


def read_launch(entry: EntryReader) -> Launch | None:
    """Return the launch; None if the entry is invalid, and its problems say why."""
    kind = entry.take(*KINDS)
    match entry.take("command"), entry.take(*URLS):
        case (_, command), None:
            _transport(entry, kind)
            return _stdio(entry, command)
        case None, (key, url):
            transport = _transport(entry, kind, url)
            return _remote(entry, transport, key, url)
        case None, None if kind is not None and kind[1] == Transport.OWN:
            entry.needless("it is mcpguard itself", "headers", "args", "env", "framing", "sandbox", "mounts", *FOLDERS)
            return OWN_SERVER
        case None, None:
            entry.problems.append(f"{entry.place} must have a command or a url")
        case _:
            entry.problems.append(f"{entry.place} has both a command and a url; give one of them")
    return None


def is_header_value(text: str) -> bool:
    """Tell whether a header may have this value, after its references were resolved."""
    return _HEADER_VALUE.fullmatch(text) is not None


def suggested_transport(url: object) -> Transport:
    """Return the transport for a URL if none is named."""
    return Transport.SSE if isinstance(url, str) and _OLD.fullmatch(url) else Transport.HTTP


def _transport(entry: EntryReader, kind: tuple[str, object] | None, url: object = None) -> Transport:
    """Return the named transport, or the default for the URL; without a URL it is stdio."""
    remote = url is not None
    default = suggested_transport(url) if remote else Transport.STDIO
    if kind is None:
        return default
    key, word = kind
    plain = re.sub("[-_]", "", word).lower() if isinstance(word, str) else ""
    if plain not in _TRANSPORTS:
        entry.wrong(key, "must be one of stdio, http, streamable-http, sse")
        return default
    named = _TRANSPORTS[plain] or default
    if (named is Transport.STDIO) is remote:
        entry.wrong(key, f"is {named}, which needs a {'command' if remote else 'url'}")
    return named


def _stdio(entry: EntryReader, command: object) -> StdioLaunch | None:
    words = _command(entry, command)
    environment = _templates(entry, "env")
    folder = _folder(entry)
    framing = entry.word("framing", StdioFraming, StdioFraming.LINES)
    profile = entry.word("sandbox", Profile, Profile.STRICT)
    mounts = _mounts(entry)
    entry.needless("it is started by a command", "headers")
    if entry.problems or not words:
        return None
    return StdioLaunch(words[0], words[1:], environment, folder, framing, profile, mounts)


def _command(entry: EntryReader, command: object) -> tuple[str, ...]:
    """Return the command and its arguments; the command may be a list with both."""
    given = entry.take("args")
    if isinstance(command, list):
        words = entry.texts("command", command, templates=True)
        if words and references_in(words[0]):
            entry.wrong("command", "must begin with a program, not a reference")
        if not command or (words and not words[0].strip()):
            entry.wrong("command", "is empty")
        if given is not None and given[1] != []:
            entry.wrong("args", "cannot be combined with a command that is a list; put the arguments into the list")
    else:
        words = tuple(text for text in [entry.text("command", command)] if text is not None)
        words += entry.texts(*given, templates=True) if given is not None else ()
    if sum(len(word.encode(errors="surrogatepass")) + 1 for word in words) > MOST_ARGUMENT_BYTES:
        entry.wrong("args", f"and the command together exceed {MOST_ARGUMENT_BYTES} bytes")
    return words


def _folder(entry: EntryReader) -> str | None:
    given = entry.take(*FOLDERS)
    folder = None if given is None else entry.text(*given)
    if given is not None and folder is not None and not Path(folder).is_absolute():
        entry.wrong(given[0], "must be an absolute path")
    return folder


def _mounts(entry: EntryReader) -> tuple[Mount, ...]:
    given = entry.take("mounts")
    texts = () if given is None else entry.texts(*given)
    if len(texts) > MOST_MOUNTS:
        entry.wrong("mounts", f"has more than {MOST_MOUNTS} folders")
    mounts: dict[str, Mount] = {}
    for index, text in enumerate(texts):
        written = Mount.parse(text)
        mount = replace(written, path=str(Path(written.path)))
        if not mount.path.startswith("/") or mount.path.startswith("//") or ".." in Path(mount.path).parts:
            entry.wrong(f"mounts[{index}]", "must be an absolute path without .., optionally followed by :rw")
        elif mount.path in mounts:
            entry.wrong(f"mounts[{index}]", "repeats an earlier folder")
        else:
            mounts[mount.path] = mount
    return tuple(mounts.values())


def _remote(entry: EntryReader, transport: Transport, key: str, url: object) -> RemoteLaunch | None:
    text = entry.text(key, url)
    if text is not None and (remedy := _unfit_url(text)):
        entry.wrong(key, remedy)
    headers = _templates(entry, "headers")
    entry.needless("it is reached by a URL", "args", "env", "framing", "sandbox", "mounts", *FOLDERS)
    if entry.problems or text is None or transport is Transport.STDIO:
        return None
    return RemoteLaunch(transport, text, headers)


def _unfit_url(url: str) -> str | None:
    """Return what is wrong with the URL. Some checks come before parsing, because the parser drops some characters."""
    if len(url) > LONGEST_URL:
        return f"is longer than {LONGEST_URL} characters"
    if _NOT_IN_URL.search(url):
        return "must be a URL in ASCII, without spaces and with other characters percent-encoded"
    if not url.lower().startswith(("http://", "https://")):
        return "must begin with http:// or https://"
    if "#" in url:
        return "must not have a fragment (#…)"
    try:
        return _unfit_host(urlsplit(url))
    except ValueError:
        return _NO_HOST


def _unfit_host(url: SplitResult) -> str | None:
    """Return what is wrong with the host and port. Raises ValueError as well."""
    host, bracketed = url.hostname or "", url.netloc.startswith("[")
    if "@" in url.netloc:
        return "must not contain a user or password; use headers instead"
    if bracketed:
        IPv6Address(host)
    return _NO_HOST if url.port == 0 or not (bracketed or _HOST.fullmatch(host)) else None


def _templates(entry: EntryReader, key: str) -> dict[str, str]:
    """Return the valid members of `env` or `headers`."""
    taken = entry.take(key)
    members = {} if taken is None else taken[1]
    if not isinstance(members, Mapping):
        entry.wrong(key, "must be an object of strings")
        return {}
    kept: dict[str, str] = {}
    for name, value in members.items():
        remedy = _unfit_header(name, kept) if key == "headers" else _unfit_variable(name)
        if remedy:
            entry.wrong(key, f"has {shown_name(name)}, which {remedy}")
        elif remedy := _unfit_value(value, header=key == "headers"):
            entry.wrong(member_place(key, name), remedy)
        else:
            kept[name] = value
    return kept


def _unfit_variable(name: str) -> str | None:
    return (
        None
        if VARIABLE.fullmatch(name)
        else "is not a valid variable name: use letters, digits and _, and no digit first"
    )


def _unfit_header(name: str, before: Mapping[str, str]) -> str | None:
    if not _TOKEN.fullmatch(name):
        return "is not a valid header name"
    if name.lower() in _OURS or name.lower().startswith("mcp-"):
        return "is set by mcpguard itself"
    if name.lower() in {each.lower() for each in before}:
        return "is given twice"
    return None


def _unfit_value(value: object, *, header: bool) -> str | None:
    if not isinstance(value, str):
        return "must be a string"
    try:
        plain = literals(value)
    except BadTemplate as error:
        return str(error)
    if not header:
        return "contains a NUL character" if "\0" in value else None
    whole = plain == (value,)  # with references, the beginning and the end are not known yet
    if any(_NOT_IN_HEADER.search(part) for part in plain) or (whole and not is_header_value(value)):
        return "must be ASCII on one line, without surrounding spaces"
    return None
