"""Decisions of reviewers about servers and capabilities: who decided, why, and which versions they reviewed.

Rules kept here:
1. A decision names the versions that it applies to. If one of them has changed, the decision is stale: it changes
   nothing, and `Stale` reports what changed.
2. An actor without a user's authority may tighten protection, but not loosen it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Profile

LONGEST_WHY: Final = 2000
CapabilityKey = tuple[CapabilityKind, str]
"""A capability of one server, by its kind and its name."""
SERVER_ITSELF: Final = "server"
"""The name of a server's own launch where it is listed beside the capabilities."""
ConfirmedFindings = Mapping[CapabilityKey | None, frozenset[str]]
"""The rules of the findings that a reviewer confirms to have read, by capability; None: in the launch of the server."""


class Answer(StrEnum):
    """The answers that a reviewer can give."""

    APPROVE = "approve"
    ALLOW = "allow"
    PERMIT = "permit"
    SCREEN = "screen"
    INSPECT = "inspect"
    ENABLE = "enable"
    UNBLOCK = "unblock"
    REJECT = "reject"
    REVOKE = "revoke"
    QUARANTINE = "quarantine"
    DISABLE = "disable"
    RESTART = "restart"
    BLOCK = "block"
    DENY = "deny"


WIDENING: Final = frozenset({Answer.APPROVE, Answer.ALLOW, Answer.INSPECT, Answer.ENABLE, Answer.UNBLOCK})
"""The answers that always loosen protection. The others tighten it, or only sort the inbox; `permit` and `screen` do
the one or the other."""
AGAIN: Final = "this loosens protection; confirm it with your password"
ONLY_PEOPLE: Final = "{} is `tighten`: only a user who has signed in may loosen protection"
SHELL: Final = "authority.shell"
TOKENS: Final = "authority.tokens"


def is_never_revoked() -> bool:
    """Return True: for actors that nothing can revoke, such as an account of this host, or the guard itself."""
    return True


@dataclass(frozen=True, slots=True)
class Actor:
    """Who decides or declares something. `via` is the door they came through, `process` what is known of the program.

    `may_widen`: whether they may loosen protection; `recent`: False where they may not because their password was given
    too long ago; `bound`: the setting that forbids it otherwise. `holds`: whether they still have their rights; it is
    asked when the decision is carried out, because they may be revoked while it waits for its turn.
    """

    id: str
    via: str
    process: str = ""
    recent: bool = True
    bound: str = SHELL
    may_widen: bool = field(kw_only=True)
    holds: Callable[[], bool] = field(kw_only=True, compare=False, repr=False)

    @classmethod
    def with_full_rights(cls, id_: str, via: str, process: str = "") -> Self:
        """Return an actor that may loosen protection and is never revoked."""
        return cls(id_, via, process, may_widen=True, holds=is_never_revoked)

    def check_widening(self) -> None:
        """Raise Forbidden if the actor may not loosen protection."""
        if self.may_widen:
            return
        raise Forbidden(ONLY_PEOPLE.format(self.bound)) if self.recent else PasswordNeeded(AGAIN)

    def check(self) -> None:
        """Raise Lapsed if the actor has lost their rights."""
        if not self.holds():
            raise ActorRevoked("your access was revoked before this was carried out; nothing was changed")


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decides, and why. The reason goes into the audit log as they wrote it."""

    by: Actor
    why: str


@dataclass(frozen=True, slots=True)
class ReviewedVersions:
    """The versions that a reviewer saw: the identity of the server, and the definition of each capability.

    A definition that could not be read is None.
    """

    launch: Fingerprint
    observed: Fingerprint | None
    capabilities: Mapping[CapabilityKey, Fingerprint | None]


@dataclass(frozen=True, slots=True)
class Approval:
    """What of a server is approved. `only`: these capabilities, None for all that can be; the others keep their status.

    `effects`: of tools, by name; a tool that is not named gets the more careful of the declared and the suggested
    effect. `prefixes`: callers who may read the server may read every resource below these URIs. `prefixes` and
    `may_ask` stay as they are if None. `left_out`: capabilities that are explicitly not wanted. `read`: the grave
    findings that were read, by their rules. `sandbox` and `mounts`: the confinement from now on, None for no change.
    """

    seen: ReviewedVersions
    only: frozenset[CapabilityKey] | None = None
    effects: Mapping[str, Effect] = field(default_factory=dict)
    prefixes: tuple[str, ...] | None = None
    may_ask: frozenset[AskKind] | None = None
    read: ConfirmedFindings = field(default_factory=dict)
    left_out: frozenset[CapabilityKey] = frozenset()
    sandbox: Profile | None = None
    mounts: tuple[str, ...] | None = None


class Unknown(GuardError):
    """The server, the capability or the held call does not exist."""


class Stale(GuardError):
    """What the decision is about has changed since it was reviewed. Nothing was changed; `moved` says what differs."""

    def __init__(self, moved: tuple[str, ...]) -> None:
        super().__init__("not saved, because this changed since you reviewed it: " + "; ".join(moved))
        self.moved = moved


class Undecidable(GuardError):
    """The decision cannot be taken by anybody. The message says why, and what to do instead."""


class Unread(Undecidable):
    """An approval does not confirm the grave findings in `what`. `rules`: the rules of these findings."""

    def __init__(self, what: str, rules: frozenset[str]) -> None:
        listed = ", ".join(sorted(rules))
        super().__init__(f"{what} has grave findings ({listed}); confirm that you have read them, or do not approve it")
        self.what = what
        self.rules = rules


class Forbidden(GuardError):
    """The actor may not do this. The message says who may."""


class ActorRevoked(Forbidden):
    """The actor was revoked before the decision was carried out."""


class PasswordNeeded(Forbidden):
    """The actor has to confirm the decision with their password first."""


class NotDeclared(GuardError):
    """An entry declares no server. `problems` say why, `notices` which keys were ignored; neither repeats a value."""

    def __init__(self, problems: tuple[str, ...], notices: tuple[str, ...] = ()) -> None:
        super().__init__("not a valid server entry: " + "; ".join(problems))
        self.problems = problems
        self.notices = notices


class NameTaken(GuardError):
    """A server with this name exists already."""


class DeclaredElsewhere(GuardError):
    """The server is declared in a configuration file and must be changed there. The message says in which."""


class NeedsConsent(GuardError):
    """Inspecting the server means to run or contact something. The message says what; a user has to consent first."""
