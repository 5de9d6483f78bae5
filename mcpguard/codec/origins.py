"""Whether a request can have come from a page that is not ours.

Programs send neither header. A browser sends at least one of them with everything that a page makes it send.
"""

_SAME = ("same-origin", "none")


def is_foreign(origin: str | None, site: str | None, ours: str) -> bool:
    """By its `Origin` and its `Sec-Fetch-Site`; `ours` is our own origin, as whoever asks reaches us."""
    return (origin is not None and origin.lower() != ours) or (site is not None and site not in _SAME)


def origin(scheme: str, host: str) -> str:
    """Our own, by the host that a request names."""
    return f"{scheme}://{host.lower()}"
