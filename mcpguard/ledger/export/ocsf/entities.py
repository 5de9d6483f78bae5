"""Events of decisions, and of other changes to permissions: Entity Management.

Rules kept here:
1. The entity is the subject of the decision: a server, a capability, a held call, a caller, a user, a token, the
   settings. Its state before and after is the status; for a user, the role.
2. Decisions for which the schema has an activity get that; the others are `Other` with the guard's own word.
3. `comment` is the text that a person wrote; `status_detail` is the guard's description of a failure.
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
    texts,
    uid_of,
    without_none,
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
"""The activity for each word of our records. The schema has none for `allow` and `deny` of held calls, for `reject`,
and for how a held call ended."""
_MATTER: Final = frozenset({"identity_changed", "differs", "unconfined"})
"""Changes that need attention: something is not what was approved, or runs without a sandbox."""
_APPROVING: Final = frozenset({"approve"})


def admission_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _stood(record, said, said.get("change"), "The declaration of a server changed")


def decision_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _stood(record, said, said.get("answer"), "A decision was made")


def status_change_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _stood(record, said, said.get("move"), "The guard changed a status by itself")


def inspection_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "inspect", _thing(said), "A user requested the inspection of a server")


def failed_inspection_event(record: ExportLine) -> Event:
    said = texts(record.said)
    made: Event = {**_changed(record, said, "inspect", _thing(said), "The inspection of a server failed"), **FAILURE}
    if (why := made.pop("comment", None)) is not None:
        made["status_detail"] = why
    return made


def listing_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "changed", _thing(said), "A server changed what it lists")


def token_grant_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "added", _caller(said), "A caller was created")


def token_revocation_event(record: ExportLine) -> Event:
    said = texts(record.said)
    return _changed(record, said, "revoked", _caller(said), "A caller was revoked")


def settings_event(record: ExportLine) -> Event:
    said = texts(record.said)
    policy = {"name": "settings", "is_applied": True}
    settings = {"type_id": 5, "type": "Policy", "name": "settings", "policy": policy}
    return _changed(record, said, "changed", settings, "Security settings were confirmed")


def user_event(record: ExportLine) -> Event:
    said = texts(record.said)
    before, role = said.get("before"), said.get("role")
    entity = _person(said, before or role)
    made = _changed(record, said, said.get("change"), entity, "A user was created or changed")
    if before is not None:
        made["entity_result"] = _person(said, role)
    return made


def operator_token_event(record: ExportLine) -> Event:
    said = texts(record.said)
    token = _entity("operator's token", said.get("token_name"), said.get("token"))
    return _changed(record, said, said.get("change"), token, "An API token was created or revoked")


def script_event(record: ExportLine) -> Event:
    said = texts(record.said)
    script = _entity("script", said.get("script"), said.get("source"))
    return _changed(record, said, said.get("change"), script, "A script was added, changed or removed")


def allowance_event(record: ExportLine) -> Event:
    said = texts(record.said)
    allowance = _entity("allowance", said.get("name"), said.get("allowance"), said.get("fingerprint"))
    return _changed(record, said, said.get("change"), allowance, "Calls like a held one were allowed, or are no more")


def search_forgotten_event(record: ExportLine) -> Event:
    said = texts(record.said)
    entity = _entity("search", said.get("name", said.get("what")), said.get("server"))
    return _changed(record, said, "forgotten", entity, "What search had learned was forgotten")


def _changed(record: ExportLine, said: Texts, word: str | None, entity: Event, message: str) -> Event:
    what = _WORDS.get(word or "") or (ENTITY.activity(0) if word is None else ENTITY.other(word))
    # Approved although inspection had findings, or declared with a launch that breaks rules.
    in_spite = word in _APPROVING and "rules" in said
    launch = record.said.get("kind") == "admitted" and "rules" in said
    severity = MEDIUM if word in _MATTER or in_spite or launch else INFORMATIONAL
    made = event(record, what, severity, message, said.get("ticket") or said.get("decision"))
    made |= {**SUCCESS, "actor": decider(said), "entity": entity}
    if (why := said.get("why")) is not None:
        made["comment"] = why
    return made


def _stood(record: ExportLine, said: Texts, word: str | None, message: str) -> Event:
    """An event with the status before and after."""
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
    """The entity of a record: a held call, a capability or a server, the narrowest that it names."""
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
    named = without_none([("name", name), ("uid", uid), ("version", version)])
    return {"type_id": OTHER, "type": type_, **named}
