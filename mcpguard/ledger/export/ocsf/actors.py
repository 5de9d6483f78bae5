"""The actor of an event: a person, an agent, a program, or the guard itself.

Rules kept here:
1. `actor.user` is only ever a person, an operating-system account or an operator's token.
2. Agents are `actor.app_uid` and `actor.app_name`; the name that an agent claims for itself is used for neither.
"""

import re
from typing import Any, Final

from mcpguard.ledger.export.ocsf.event import NOBODY, US, Event, Texts

GUARD: Final = {"app_name": US}
_KNOWN: Final = re.compile(r"(uid|user|token):([^ ]+)(?: \((.+)\))?", re.DOTALL)
_TYPES: Final = {
    "uid": (99, "operating-system account"),
    "user": (1, "User"),
    "token": (4, "Service"),
}
_AGENT: Final = "agent"


def caller(said: Texts) -> Event:
    """The agent that made a call, and the user who did it in its name, if one did."""
    id_ = said.get("caller")
    actor: Event = {**NOBODY} if id_ is None else {"app_uid": id_, "app_name": said.get("caller_label", id_)}
    if (by := said.get("by")) is not None and (user := _user(by)) is not None:
        actor["user"] = user
    return actor


def decider(said: Texts) -> Event:
    """Who decided or declared something; the guard itself if nobody did."""
    by, via = said.get("by"), said.get("via")
    if by is None:
        return GUARD
    if (user := _user(by)) is not None:
        return {"user": user} if via is None else {"user": user, "app_name": via}
    if via == _AGENT:
        return {"app_uid": by, "app_name": said.get("process", by)}
    return {"app_name": by}


def _user(by: str) -> dict[str, Any] | None:
    known = _KNOWN.fullmatch(by)
    if known is None:
        return None
    type_id, type_ = _TYPES[known[1]]
    user: dict[str, Any] = {"uid": known[2], "type_id": type_id, "type": type_}
    if known[3] is not None:
        user["name"] = known[3]
    return user


def person(said: Texts, role: str | None) -> dict[str, Any] | None:
    """The user that a record is about, with a role; None if it names none."""
    id_, name = said.get("user"), said.get("user_name")
    if id_ is None and name is None:
        return None
    user: dict[str, Any] = {} if id_ is None else {"uid": id_}
    if name is not None:
        user["name"] = name
    if role is not None:
        user |= {"type_id": 2, "type": "Admin"} if role == "admin" else {"type_id": 1, "type": "User"}
    return user
