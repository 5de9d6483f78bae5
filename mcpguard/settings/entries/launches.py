"""How the server of one entry is reached: by a command or by a URL, and with what.

Rules kept here:
1. Either `command` or `url` says it. A transport that is named has to fit. The older SSE is spoken where it is named,
   and where none is and the path of the URL ends in `/sse`, as that of such servers does.
2. Only values of the environment and of headers may hold references. A URL holds no user, password or fragment.
3. What is not said of the sandbox is the strictest of it. Folders that a server is to see are named one by one.
4. Headers that belong to the protocol or to the connection are not the operator's to set.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mcpguard.domain.servers.launches import Launch, Mount, Profile, RemoteLaunch, StdioFraming, StdioLaunch
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.entry import EntryReader, below, named
from mcpguard.settings.entries.references import VARIABLE, BadTemplate, literals, referenced

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
"""The URL of a server that speaks the older SSE, by the custom of such servers."""
_NO_HOST: Final = "must have a host, and a port from 1 to 65535 if it has one"
_HOST: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")


def launch(entry: EntryReader) -> Launch | None:
    """None if it cannot be made out; the entry's problems say why."""
    kind = entry.take(*KINDS)
    match entry.take("command"), entry.take(*URLS):
        case (_, command), None:
            _transport(entry, kind)
            return _stdio(entry, command)
        case None, (key, url):
            transport = _transport(entry, kind, url)
            return _remote(entry, transport, key, url)
        case None, None:
            entry.problems.append(f"{entry.place} must have a command or a url")
        case _:
            entry.problems.append(f"{entry.place} has both a command and a url; give one of them")
    return None


def is_header_value(text: str) -> bool:
    """Whether a header may have this value; for one that references were resolved in."""
    return _HEADER_VALUE.fullmatch(text) is not None


def suggested(url: object) -> Transport:
    """The transport that a URL suggests where none is named."""
    return Transport.SSE if isinstance(url, str) and _OLD.fullmatch(url) else Transport.HTTP


def _transport(entry: EntryReader, kind: tuple[str, object] | None, url: object = None) -> Transport:
    """The transport that is named, or else the one that the URL suggests; without a URL it is started here."""
    remote = url is not None
    default = suggested(url) if remote else Transport.STDIO
    if kind is None:
        return default
    key, word = kind
    plain = re.sub("[-_]", "", word).lower() if isinstance(word, str) else ""
    if plain not in _TRANSPORTS:
        entry.wrong(key, "must be one of stdio, http, streamable-http, sse")
        return default
    said = _TRANSPORTS[plain] or default
    if (said is Transport.STDIO) is remote:
        entry.wrong(key, f"is {said}, which goes with a {'command' if remote else 'url'}")
    return said


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
    """The command and its arguments; the command may be a list that has them already."""
    given = entry.take("args")
    if isinstance(command, list):
        words = entry.texts("command", command, templates=True)
        if words and referenced(words[0]):
            entry.wrong("command", "must begin with a program that is written out")
        if not command or (words and not words[0].strip()):
            entry.wrong("command", "is empty")
        if given is not None and given[1] != []:
            entry.wrong("args", "stands beside a command that is a list; write them into the list")
    else:
        words = tuple(text for text in [entry.text("command", command)] if text is not None)
        words += entry.texts(*given, templates=True) if given is not None else ()
    if sum(len(word.encode(errors="surrogatepass")) + 1 for word in words) > MOST_ARGUMENT_BYTES:
        entry.wrong("args", f"and the command are larger than {MOST_ARGUMENT_BYTES} bytes")
    return words


def _folder(entry: EntryReader) -> str | None:
    given = entry.take(*FOLDERS)
    folder = None if given is None else entry.text(*given)
    if given is not None and folder is not None and not Path(folder).is_absolute():
        entry.wrong(given[0], "must be a whole path")
    return folder


def _mounts(entry: EntryReader) -> tuple[Mount, ...]:
    given = entry.take("mounts")
    texts = () if given is None else entry.texts(*given)
    if len(texts) > MOST_MOUNTS:
        entry.wrong("mounts", f"has more than {MOST_MOUNTS} folders")
    mounts: dict[str, Mount] = {}
    for index, text in enumerate(texts):
        written = Mount.written(text)
        mount = replace(written, path=str(Path(written.path)))
        if not mount.path.startswith("/") or mount.path.startswith("//") or ".." in Path(mount.path).parts:
            entry.wrong(f"mounts[{index}]", "must be a whole path without .., and may end in :rw")
        elif mount.path in mounts:
            entry.wrong(f"mounts[{index}]", "names a folder that is named before")
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
    """What is wrong with the URL. Looked at before it is taken apart, as the parser leaves some characters out."""
    if len(url) > LONGEST_URL:
        return f"is longer than {LONGEST_URL} characters"
    if _NOT_IN_URL.search(url):
        return "must be a URL in ASCII, without spaces and with other characters percent-encoded"
    if not url.lower().startswith(("http://", "https://")):
        return "must begin with http:// or https://"
    if "#" in url:
        return "must have no fragment (#…)"
    try:
        return _unfit_host(urlsplit(url))
    except ValueError:
        return _NO_HOST


def _unfit_host(url: SplitResult) -> str | None:
    """What is wrong with what the URL leads to. Raises ValueError as well."""
    host, bracketed = url.hostname or "", url.netloc.startswith("[")
    if "@" in url.netloc:
        return "must have no user or password in it; put what the server asks for into headers"
    if bracketed:
        IPv6Address(host)
    return _NO_HOST if url.port == 0 or not (bracketed or _HOST.fullmatch(host)) else None


def _templates(entry: EntryReader, key: str) -> dict[str, str]:
    """The members of `env` or `headers`."""
    taken = entry.take(key)
    members = {} if taken is None else taken[1]
    if not isinstance(members, Mapping):
        entry.wrong(key, "must be an object of texts")
        return {}
    kept: dict[str, str] = {}
    for name, value in members.items():
        remedy = _unfit_header(name, kept) if key == "headers" else _unfit_variable(name)
        if remedy:
            entry.wrong(key, f"has {named(name)}, which {remedy}")
        elif remedy := _unfit_value(value, header=key == "headers"):
            entry.wrong(below(key, name), remedy)
        else:
            kept[name] = value
    return kept


def _unfit_variable(name: str) -> str | None:
    return None if VARIABLE.fullmatch(name) else "is no name of a variable: letters, digits and _, no digit first"


def _unfit_header(name: str, before: Mapping[str, str]) -> str | None:
    if not _TOKEN.fullmatch(name):
        return "is no name of a header"
    if name.lower() in _OURS or name.lower().startswith("mcp-"):
        return "mcpguard sets itself"
    if name.lower() in {each.lower() for each in before}:
        return "stands there twice"
    return None


def _unfit_value(value: object, *, header: bool) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    try:
        plain = literals(value)
    except BadTemplate as error:
        return str(error)
    if not header:
        return "holds a NUL character" if "\0" in value else None
    whole = plain == (value,)  # where references are inside, how it begins and ends is not known yet
    if any(_NOT_IN_HEADER.search(part) for part in plain) or (whole and not is_header_value(value)):
        return "must be ASCII on one line, without blanks around it"
    return None
