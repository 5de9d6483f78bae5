"""Finds where a text could have data sent to: hosts, e-mail addresses, IP addresses, telephone numbers, wallets.

Rules kept here:
1. Invisible characters, wide letters and dots that are written out (`evil[.]example`, `evil dot example`) make no
   difference. A look-alike letter does: it makes another host.
2. The host of a URL is what a program would connect to, whatever stands before an `@`.
3. Every pattern takes linear time.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcpguard.text.visible import hides

_DOT: Final = r"(?:\.|\[\.\]|\(\.\)|\{\.\}|[ ]?[\[(](?:dot|DOT)[\])][ ]?|[ ]dot[ ])"
_AT: Final = r"(?:@|[ ]?[\[(](?:at|AT)[\])][ ]?|[ ]at[ ](?=[\w-]{1,63}+[ ]dot[ ]))"
_LABEL: Final = r"[^\W_](?:[\w-]{0,62}+)"
_TOP: Final = """
    com org net io dev ai co app xyz info biz cloud example site online top ru cn de uk fr nl eu us in jp kr br ch se
    club store tech live space link click host website pro sh ly me gg cc tk ml ga cf gq su pw ws tv to im is so fm
    page work works network systems digital email services solutions agency software tools zone chat social media
    run codes support help center today world icu cfd onion test invalid local internal
"""
_TOPS: Final = frozenset(_TOP.split())
_AMBIGUOUS: Final = """
    sh py so ai io pro ws cc me is in to us so run page link tools app test
"""
_EXTENSIONS: Final = frozenset(_AMBIGUOUS.split())
"""Ends of names that are no hosts unless a path follows, or a name of a well-known sort stands before."""
_SCHEME: Final = re.compile(
    r"(?:https?|hxxps?|wss?|ftps?|sftp|ssh|tcp|udp|ldaps?|smtps?)\s{0,2}:\s{0,2}//\s{0,2}([^\s/?#\\\"'`<>)\]},;]{1,300}+)",
    re.IGNORECASE,
)
_HOST: Final = re.compile(rf"(?<![\w.@/\\-])({_LABEL}(?:{_DOT}{_LABEL}){{1,8}}+)(:\d{{2,5}})?(/)?")
_MAIL: Final = re.compile(rf"(?<![\w.+-])([\w.+-]{{1,64}}+){_AT}({_LABEL}(?:{_DOT}{_LABEL}){{1,8}}+)")
_IPV4: Final = re.compile(r"(?<![\w.-])(\d{1,3}(?:\.\d{1,3}){3})(?![\w-]|\.\d)")
_PHONE: Final = re.compile(r"(?<![\w+])\+\d[\d ().-]{6,20}\d(?!\w)")
_WALLET: Final = re.compile(
    r"\b(?:0x[0-9a-fA-F]{40}|bc1[ac-hj-np-z02-9]{25,60}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}|T[1-9A-HJ-NP-Za-km-z]{33})\b"
)
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_DOTS: Final = re.compile(_DOT)
_LEAST_DIGITS: Final = 8
_WIDE_DOTS: Final = frozenset("\u3002\uff0e\uff61\u2024")
_MOST: Final = 200
"""Destinations that are found in one text."""
_SECOND_LEVEL: Final = frozenset({"co", "com", "org", "net", "gov", "ac", "edu"})
_SHARED_DOMAINS: Final = """
    github.io gitlab.io pages.dev workers.dev vercel.app netlify.app herokuapp.com ngrok.io ngrok.app
    ngrok-free.app ngrok.dev trycloudflare.com webhook.site pipedream.net requestbin.com requestbin.net
    beeceptor.com oast.fun oast.pro oast.live interact.sh burpcollaborator.net azurewebsites.net amazonaws.com
    blogspot.com appspot.com cloudfunctions.net run.app web.app firebaseapp.com firebaseio.com r2.dev
    supabase.co onrender.com fly.dev deno.dev glitch.me repl.co replit.app surge.sh render.com loca.lt
    serveo.net myshopify.com wordpress.com githubusercontent.com googleusercontent.com blob.core.windows.net
"""
_SHARED: Final = tuple(_SHARED_DOMAINS.split())
"""Domains in which anybody can have a host: there, only the same host is the same destination."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A place that data can be sent to. `name` is its plain form; `host` that of an address on the network."""

    name: str
    start: int
    end: int
    host: str = ""

    @property
    def domain(self) -> str:
        """The registered domain of the host; the host itself where anybody could have one beside it."""
        return registered_domain(self.host) if self.host else self.name


def find_destinations(text: str) -> list[Destination]:
    """Return the destinations in a text, in order, each place once."""
    plain, places = _plain(text)
    found: list[Destination] = []
    taken = 0
    for start, end, name, host in sorted(_candidates(plain), key=lambda each: (each[0], -each[1])):
        if start < taken:
            continue
        taken = end
        found.append(Destination(name, places[start], places[end - 1] + 1, host))
        if len(found) == _MOST:
            break
    return found


def registered_domain(host: str) -> str:
    """Return the part of a host that somebody registered: `docs.vendor.co.uk` is in `vendor.co.uk`."""
    labels = host.split(".")
    if any(host == shared or host.endswith(f".{shared}") for shared in _SHARED) or labels[-1].isdigit() or ":" in host:
        return host
    long = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3:] if long else labels[-2:])


def _plain(text: str) -> tuple[str, list[int]]:
    """Return the text without invisible characters and in plain width, with the place of each character."""
    if text.isascii():
        return text, list(range(len(text)))
    chars: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if hides(char) and char != "\n":
            continue
        for each in unicodedata.normalize("NFKC", "." if char in _WIDE_DOTS else char):
            chars.append(each)
            places.append(at)
    return "".join(chars), places


def _candidates(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield places with the name of what is there, and its host if it has one."""
    yield from _addresses(text)
    for match in _HOST.finditer(text):
        host = _host(match[1])
        if _is_host(host, path=bool(match[3] or match[2])):
            yield *match.span(), host, host
    for match in _IPV4.finditer(text):
        if _is_address(match[1]):
            yield *match.span(), match[1], match[1]
    for pattern in (_WALLET, _IBAN, _PHONE):
        for match in pattern.finditer(text):
            if pattern is not _PHONE or sum(char.isdigit() for char in match[0]) >= _LEAST_DIGITS:
                yield *match.span(), match[0], ""


def _addresses(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield URLs and e-mail addresses."""
    for match in _SCHEME.finditer(text):
        authority = match[1].rpartition("@")[2]
        host = _host(authority if authority.startswith("[") else authority.partition(":")[0])
        if host and not host.startswith(("{", "$", "<")):
            yield *match.span(), host, host
    for match in _MAIL.finditer(text):
        host = _host(match[2])
        if "." in host and not host.rpartition(".")[2].isdigit():
            yield *match.span(), f"{match[1].lower()}@{host}", host


def _host(written: str) -> str:
    return _DOTS.sub(".", written).strip(". ").casefold()


def _is_host(host: str, *, path: bool) -> bool:
    """Tell whether a name with dots, for which no scheme vouches, is a host and not a file or a member of something."""
    labels = host.split(".")
    top = labels[-1]
    if top not in _TOPS or "_" in host or any(not label or label.isdigit() for label in labels):
        return False
    if top in _EXTENSIONS and not path:
        return top in ("io", "ai", "app") and len(labels[-2]) > 3
    return len(labels[-2]) > 1 or path or top in ("com", "org", "net", "example")


def _is_address(written: str) -> bool:
    try:
        return not ipaddress.ip_address(written).is_unspecified
    except ValueError:
        return False
