"""Decisions, and what else changes who may do what: Entity Management.

Rules kept here:
1. The entity is what was decided about: a server, a capability, a held call, a caller, a person, a token, the settings.
   Before and after are its standing, and of a person the role.
2. The answers that the schema has a word for are that; the others are `Other` with our word.
3. `comment` is what the person wrote; what the guard says of a failure is `status_detail`.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf.actors import decider, person
from mcpguard.ledger.export.ocsf.event import (
    FAILURE,
    INFORMATIONAL,
    MEDIUM,
    OTHER,
    SUCCESS,
    UNKNOWN,
    Class,
    Event,
    Texts,
    event,
    given,
    texts,
    uid_of,
)

_CAPTIONS: Final = {
    0: "Unknown",
    1: "Create",
    2: "Read",
    3: "Update",
    4: "Delete",
    8: "Enable",
    9: "Disable",
    10: "Activate",
    11: "Deactivate",
    12: "Suspend",
    13: "Resume",
    OTHER: "Other",
}
ENTITY: Final = Class(3004, "Entity Management", (3, "Identity & Access Management"), _CAPTIONS)
_CREATE, _READ, _UPDATE, _DELETE, _ENABLE, _DISABLE = map(ENTITY.activity, (1, 2, 3, 4, 8, 9))
_ACTIVATE, _DEACTIVATE, _SUSPEND, _RESUME = map(ENTITY.activity, (10, 11, 12, 13))
_WORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "added": _CREATE,
    "changed": _UPDATE,
    "removed": _DELETE,
    "withdrawn": _DELETE,
    "revoked": _DELETE,
    "unconfined": _UPDATE,
    "confined": _UPDATE,
    "role": _UPDATE,
    "password": _UPDATE,
    "own_password": _UPDATE,
    "disabled": _DISABLE,
    "enabled": _ENABLE,
    "offered": _CREATE,
    "approve": _ACTIVATE,
    "revoke": _DEACTIVATE,
    "permit": _UPDATE,
    "screen": _UPDATE,
    "inspect": _READ,
    "enable": _ENABLE,
    "disable": _DISABLE,
    "quarantine": _SUSPEND,
    "block": _SUSPEND,
    "unblock": _RESUME,
    "identity_changed": _SUSPEND,
    "differs": _SUSPEND,
    "returned": _RESUME,
}
"""What the records call it. `allow` and `deny` of held calls, `reject`, how a held call ended, and whatever a later
version brings are none of the schema's words."""
_MATTER: Final = frozenset({"identity_changed", "differs", "unconfined"})
"""What somebody should look at: something is not what was approved, or runs unconfined."""
_APPROVING: Final = frozenset({"approve"})


def admitted(record: ExportLine) -> Event:
    said = texts(record.said)
    return _stood(record, said, said.get("change"), "A server came, or is declared otherwise")


def decided(record: ExportLine) -> Event:
    said = texts(record.said)
    return _stood(record, said, said.get("answer"), "Somebody decided")


def moved(record: ExportLine) -> Event:
    said = texts(record.said)
    return _stood(record, said, said.get("move"), "The guard moved something by itself")


def inspected(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "inspect", _thing(said), "A person has a server looked at")


def inspection_failed(record: ExportLine) -> Event:
    said = texts(record.said)
    made: Event = {**_changed(record, said, "inspect", _thing(said), "The inspection of a server failed"), **FAILURE}
    if (why := made.pop("comment", None)) is not None:
        made["status_detail"] = why
    return made


def listed(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "changed", _thing(said), "A server lists something else than before")


def granted(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "added", _caller(said), "A caller was let in")


def revoked(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "revoked", _caller(said), "A caller is none any more")


def configured(record: ExportLine) -> Event:
    said = texts(record.said)
    policy = {"name": "settings", "is_applied": True}
    settings = {"type_id": 5, "type": "Policy", "name": "settings", "policy": policy}
    return _changed(record, said, "changed", settings, "Settings that carry trust were confirmed")


def of_person(record: ExportLine) -> Event:
    said = texts(record.said)
    before, role = said.get("before"), said.get("role")
    entity = _person(said, before or role)
    made = _changed(record, said, said.get("change"), entity, "A person was let in, or may do something else")
    if before is not None:
        made["entity_result"] = _person(said, role)
    return made


def of_operator(record: ExportLine) -> Event:
    said = texts(record.said)
    token = _entity("operator's token", said.get("token_name"), said.get("token"))
    return _changed(record, said, said.get("change"), token, "A program's token was made or revoked")


def _changed(record: ExportLine, said: Texts, word: str | None, entity: Event, message: str) -> Event:
    what = _WORDS.get(word or "") or (ENTITY.activity(0) if word is None else ENTITY.other(word))
    in_spite = word in _APPROVING and "rules" in said
    launch = record.said.get("kind") == "admitted" and "rules" in said
    severity = MEDIUM if word in _MATTER or in_spite or launch else INFORMATIONAL
    made = event(record, what, severity, message, said.get("ticket") or said.get("decision"))
    made |= {**SUCCESS, "actor": decider(said), "entity": entity}
    if (why := said.get("why")) is not None:
        made["comment"] = why
    return made


def _stood(record: ExportLine, said: Texts, word: str | None, message: str) -> Event:
    """With where it stood before, and where it stands now."""
    entity = _thing(said)
    made = _changed(record, said, word, entity, message)
    if (before := said.get("before")) is not None:
        made["entity"] = {**entity, "data": {"standing": before}}
    if (after := said.get("after")) is not None:
        made["entity_result"] = {**entity, "data": {"standing": after}}
    return made


def _person(said: Texts, role: str | None) -> Event:
    user = person(said, role)
    if user is None:
        return {"type_id": OTHER, "type": "setup link", "name": "setup link"}
    return {"type_id": 2, "type": "User", "user": user} | {key: user[key] for key in ("uid", "name") if key in user}


def _thing(said: Texts) -> Event:
    """A held call, a capability or a server: the narrowest that the record names."""
    get = said.get
    name, server, kind, fingerprint = get("name"), get("server"), get("capability"), get("fingerprint")
    if (ticket := get("ticket")) is not None:
        return _entity("held call", name, ticket, fingerprint)
    if kind is not None and name is not None:
        return _entity(kind, name, uid_of(kind, server, name), fingerprint)
    return _entity("server", server, get("upstream"), fingerprint)


def _caller(said: Texts) -> Event:
    return _entity("caller", said.get("caller_label"), said.get("caller"))


def _entity(type_: str, name: str | None, uid: str | None, version: str | None = None) -> Event:
    if name is None and uid is None:
        name = UNKNOWN
    named = given([("name", name), ("uid", uid), ("version", version)])
    return {"type_id": OTHER, "type": type_, **named}
