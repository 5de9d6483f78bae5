"""`isolation` and `oauth` in what callers declare: members of other programs, taken as a request to people.

Rules kept here:
1. Nothing that is asked for is in force. It is kept beside the launch, makes it no other launch, and is shown to
   whoever reviews the server, with who asked.
2. It is merged as a patch is: objects deeply, and null takes back.
3. What is kept is bounded in size and depth, and holds no secret: one that is given here would be read by everybody who
   may look at the server.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcpguard.domain.callers import Caller
from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.servers.requests import ServerRequest
from mcpguard.policy.secrets.hiding import called_secret
from mcpguard.policy.secrets.launches import looks_secret
from mcpguard.settings.entries.members import patched

REQUESTED: Final = ("isolation", "oauth")
LARGEST: Final = 2000
"""Characters of one request."""
DEEPEST: Final = 4
NOTICE: Final = "{} was noted as a request, which a person sees when they review the server; nothing of it is in force"
Members = Mapping[str, object]


def parted(members: Members) -> tuple[dict[str, object], dict[str, object]]:
    """What declares the server, and what is asked for beside it."""
    asked = {name: members[name] for name in REQUESTED if name in members}
    return {name: value for name, value in members.items() if name not in asked}, asked


def requested(before: Iterable[ServerRequest], asked: Members, caller: Caller, now: int) -> tuple[ServerRequest, ...]:
    """What is asked for after this. Raises Undecidable."""
    kept = {each.about: each for each in before}
    for about, said in asked.items():
        old = kept.pop(about, None)
        if said is None:
            continue
        text = _written(about, patched({about: json.loads(old.said)} if old else {}, {about: _fit(about, said)}))
        unchanged = old is not None and old.said == text
        kept[about] = old if old and unchanged else ServerRequest(about, text, caller.id, caller.label, now)
    return tuple(kept[about] for about in REQUESTED if about in kept)


def notices(asked: Members) -> tuple[str, ...]:
    """What whoever asks is told of that."""
    return tuple(NOTICE.format(about) for about, said in asked.items() if said is not None)


def as_json(requests: Iterable[ServerRequest]) -> str:
    """All of them as one text, for a record; empty where nothing is asked for."""
    said = {each.about: json.loads(each.said) for each in requests}
    return json.dumps(said, separators=(",", ":")) if said else ""


def _fit(about: str, said: object) -> Mapping[str, object]:
    if not isinstance(said, Mapping):
        raise Undecidable(f"{about} is an object, or null to take it back")
    _look(about, said, DEEPEST)
    return said


def _look(about: str, said: object, left: int) -> None:
    """Raises Undecidable for what is nested too deeply, and for what may be a secret."""
    match said:
        case Mapping() | list() if not left:
            raise Undecidable(f"{about} is nested at most {DEEPEST} levels deep")
        case Mapping():
            for name, value in said.items():
                if looks_secret(name) or (called_secret(name) and value not in (None, "", True, False)):
                    raise Undecidable(
                        f"{about} holds what may be a secret; a person gives it when they review the server"
                    )
                _look(about, value, left - 1)
        case list():
            for value in said:
                _look(about, value, left - 1)
        case str() if looks_secret(said):
            raise Undecidable(f"{about} holds what may be a secret; a person gives it when they review the server")
        case _:
            return


def _written(about: str, merged: dict[str, Any]) -> str:
    text = json.dumps(merged[about], ensure_ascii=True, sort_keys=True, separators=(",", ":")).replace(
        "\x7f", "\\u007f"
    )
    if len(text) > LARGEST:
        raise Undecidable(f"{about} has at most {LARGEST} characters as JSON")
    return text
