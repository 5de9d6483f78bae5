"""Summarizes a record (who, what, result and reason) in the same words for commands and web pages.

Nothing is verified here, so a record may make any claim.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

Said = Mapping[str, Any]
FEW: Final = 3
"""Settings that are named; the record has all of them."""
_PERSON: Final = re.compile(r"user:[0-9a-f-]{36} \((?P<name>[^()]+)\)")


def who(said: Said) -> object:
    """Who called, decided or signed in; if nobody is known, the address it came from. A user by name alone.

    A decision about a caller or its call is whoever's who made it.
    """
    calls = "entry" in said
    names = ("caller_label", "by") if calls else ("by", "caller_label")
    found = next((said[name] for name in (*names, "user_name", "caller", "peer") if said.get(name)), None)
    person = _PERSON.fullmatch(found) if isinstance(found, str) else None
    return person["name"] if person else found


def result(said: Said) -> object:  # noqa: PLR0911 - a line for each form
    """How it ended; of a decision or a change of status, what it was, with the status before and after."""
    match said:
        case {"answer": "screen", "screening": mode}:
            return f"screen: {mode}"
        case {"answer": done, "before": before, "after": after} | {"move": done, "before": before, "after": after}:
            return f"{done}: {before} → {after}"
        case {"change": change, "cause": cause}:
            return f"{change}: {cause}"
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
    """What a record is about: the capability of a call, the request of a server, a user, the settings, a server.

    Where the record names none of these, the call that it belongs to.
    """
    match said:
        # The order matters: later cases match records of calls, too.
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
        case {"kind": "granted" | "revoked" | "person" | "operator" | "script", **named}:
            return next(
                (named[key] for key in ("user_name", "token_name", "caller_label", "script") if key in named), ""
            )
        case {"server": server}:
            return server
        case {"first": first, "last": last, "what": kind}:
            return f"{kind} {first} to {last}"
        case {"version": version}:
            return f"mcpguard {version}"
        case _:
            return said.get("script") or said.get("entry", "")


def _few(names: list[str]) -> str:
    more = len(names) - FEW
    return " ".join(names[:FEW]) + (f" and {more} more" if more > 0 else "")


def why(said: Said) -> object:
    """The guard's reason, or the one that a user gave."""
    return said.get("reason") or said.get("why")
