"""`isolation` and `oauth` in callers' declarations: settings of other programs, kept as requests to reviewers.

Rules kept here:
1. No request is in force. Requests are kept beside the launch, do not change it, and are shown to the reviewer of the
   server with the caller's name.
2. Requests are merged like a patch: objects recursively, and null withdraws one.
3. Requests are bounded in size and depth, and contain no secrets: everybody who may view the server could read one.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.servers.requests import ServerRequest
from mcpguard.policy.secrets.known_secrets import is_secret_name
from mcpguard.policy.secrets.launches import looks_secret
from mcpguard.settings.entries.members import apply_patch

REQUESTED: Final = ("isolation", "oauth")
LARGEST: Final = 2000
"""Characters of one request."""
DEEPEST: Final = 4
NOTICE: Final = "{} was recorded as a request for the reviewer; it has no effect by itself"
Members = Mapping[str, object]


def split_requests(members: Members) -> tuple[dict[str, object], dict[str, object]]:
    """Split the members of a declaration into those that declare the server, and those that are requests."""
    asked = {name: members[name] for name in REQUESTED if name in members}
    return {name: value for name, value in members.items() if name not in asked}, asked


def merge_requests(
    before: Iterable[ServerRequest], asked: Members, caller: Caller, now: int
) -> tuple[ServerRequest, ...]:
    """Merge new requests of a caller into those from before. Raises Undecidable."""
    kept = {each.about: each for each in before}
    for about, said in asked.items():
        old = kept.pop(about, None)
        if said is None:
            continue
        text = _written(about, apply_patch({about: json.loads(old.said)} if old else {}, {about: _fit(about, said)}))
        unchanged = old is not None and old.said == text
        kept[about] = old if old and unchanged else ServerRequest(about, text, caller.id, caller.label, now)
    return tuple(kept[about] for about in REQUESTED if about in kept)


def request_notices(asked: Members) -> tuple[str, ...]:
    """What the caller is told of its requests."""
    return tuple(NOTICE.format(about) for about, said in asked.items() if said is not None)


def as_json(requests: Iterable[ServerRequest]) -> str:
    """All requests as one text, for a record; empty where there are none."""
    said = {each.about: json.loads(each.said) for each in requests}
    return json.dumps(said, separators=(",", ":")) if said else ""


def _fit(about: str, said: object) -> Mapping[str, object]:
    if not isinstance(said, Mapping):
        raise Undecidable(f"{about} must be an object, or null to withdraw the request")
    _look(about, said, DEEPEST)
    return said


def _look(about: str, said: object, left: int) -> None:
    """Raise Undecidable for what is nested too deeply, and for what may be a secret."""
    match said:
        case Mapping() | list() if not left:
            raise Undecidable(f"{about} may be nested at most {DEEPEST} levels deep")
        case Mapping():
            for name, value in said.items():
                # Names count, too: a secret may stand as a key, or be called one by its key.
                if looks_secret(name) or (is_secret_name(name) and value not in (None, "", True, False)):
                    raise Undecidable(f"{about} may contain a secret; leave it out, the reviewer adds secrets")
                _look(about, value, left - 1)
        case list():
            for value in said:
                _look(about, value, left - 1)
        case str() if looks_secret(said):
            raise Undecidable(f"{about} may contain a secret; leave it out, the reviewer adds secrets")
        case _:
            return


def _written(about: str, merged: dict[str, Any]) -> str:
    text = json.dumps(merged[about], ensure_ascii=True, sort_keys=True, separators=(",", ":")).replace(
        "\x7f", "\\u007f"
    )
    if len(text) > LARGEST:
        raise Undecidable(f"{about} has at most {LARGEST} characters as JSON")
    return text
