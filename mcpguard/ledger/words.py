"""A record in a few words: who, what, how it ended and why. The same at the command line and on a page.

Nothing is verified here, so a record may say anything.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

Said = Mapping[str, Any]
FEW: Final = 3
"""So many settings are named; all of them stand in the record."""
_PERSON: Final = re.compile(r"user:[0-9a-f-]{36} \((?P<name>[^()]+)\)")


def who(said: Said) -> object:
    """Whoever called, decided or signed in; of what nobody is known for, from where it came. A person by their name."""
    found = said.get("caller_label") or said.get("by") or said.get("user_name")
    found = found or said.get("caller") or said.get("peer")
    person = _PERSON.fullmatch(found) if isinstance(found, str) else None
    return person["name"] if person else found


def result(said: Said) -> object:  # noqa: PLR0911 - a line for each form
    """How it ended; of a decision and a move what it was, and where the thing stands since then."""
    match said:
        case {"answer": "screen", "screening": mode}:
            return f"screen: {mode}"
        case {"answer": done, "before": before, "after": after} | {"move": done, "before": before, "after": after}:
            return f"{done}: {before} → {after}"
        case {"change": change, "before": before, "role": role}:
            return f"{change}: {before} → {role}"
        case {"change": change, "after": after}:
            return f"{change}: {after}"
        case {"change": change}:
            return change
        case {"kind": "listed", "new": new, "changed": changed, "gone": gone}:
            return f"{new} new, {changed} changed, {gone} gone"
        case {"count": 1, "names": names}:
            return f"{names} names"
        case {"count": count}:
            return f"{count} times"
        case _:
            return said.get("outcome") or said.get("verdict") or said.get("action") or said.get("what")


def what(said: Said) -> object:  # noqa: PLR0911 - a line for each form
    """Of a call what is called; of a question who asks for what; of people whom it is about; of settings which.

    Of what is about a whole server, that one; of what belongs to a call and does not say which thing, to which call.
    """
    match said:
        case {"server": server, "name": name}:
            return f"{server}:{name}"
        case {"server": server, "entry": _, "method": method}:
            return f"{server} asks {method}"
        case {"kind": "disclosed" | "signed_in", "method": method}:
            return method
        case {"kind": "turned_away", "door": door}:
            return door
        case {"kind": "configured", "keys": str(keys)}:
            return _few(keys.split())
        case {"kind": "granted" | "revoked" | "person" | "operator", **named}:
            return next((named[key] for key in ("user_name", "token_name", "caller_label") if key in named), "")
        case {"server": server}:
            return server
        case {"first": first, "last": last, "what": kind}:
            return f"{kind} {first} to {last}"
        case {"version": version}:
            return f"mcpguard {version}"
        case _:
            return said.get("entry", "")


def _few(names: list[str]) -> str:
    more = len(names) - FEW
    return " ".join(names[:FEW]) + (f" and {more} more" if more > 0 else "")


def why(said: Said) -> object:
    """The reason of the guard's, or the one that a person gave."""
    return said.get("reason") or said.get("why")
