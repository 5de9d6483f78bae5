"""Where spans go: the settings for it."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import Destination
from mcpguard.settings.values import none_if_empty

LONGEST: Final = 2048
_URL: Final = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?(?:/[!-~]*)?")


def _endpoint(url: str | None) -> str | None:
    """A URL that holds no secret and can be read in one way."""
    if url is None:
        return None
    if len(url) > LONGEST or not _URL.fullmatch(url) or set(url) & {"?", "#", "@", "\\"}:
        raise ValueError("must be a URL such as http://127.0.0.1:4318/v1/traces, without user, query or fragment")
    return url


class Telemetry(Group):
    """Where spans of calls go. They name servers, capabilities and ids, and hold no arguments, replies or tokens."""

    otlp_endpoint: Annotated[
        str | None, BeforeValidator(none_if_empty), AfterValidator(_endpoint), Destination, Restart
    ] = None
    """URL to which spans are sent by OTLP over HTTP. Left out or empty, none are made; needs the extra `otel`."""

    sampled: Annotated[float, Field(ge=0, le=1), Restart] = 1.0
    """Share of the calls of which spans are sent, from 0 to 1. What a client says of its own trace changes nothing."""
