"""Tells whether a page of another site may have sent a request, by `Origin` and `Sec-Fetch-Site`.

Programs send neither header. A browser sends at least one of them with every request that a page causes.
"""

_SAME = ("same-origin", "none")


def is_foreign(origin: str | None, site: str | None, ours: str) -> bool:
    """Tell by `Origin` and `Sec-Fetch-Site` whether another site sent a request; `ours` is our own origin."""
    return (origin is not None and origin.lower() != ours) or (site is not None and site not in _SAME)


def origin(scheme: str, host: str) -> str:
    """Return our origin, by the host that a request names."""
    return f"{scheme}://{host.lower()}"
