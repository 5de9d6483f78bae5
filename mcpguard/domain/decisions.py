"""A person's answer about a server or one of its capabilities: who, why, and what they saw.

Rules kept here:
1. A decision says what it rests on. Where something else stands now, it is stale: it changes nothing, and `Stale` says
   what moved.
2. Who holds no person's authority may tighten and not widen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Profile

LONGEST_WHY: Final = 2000
Key = tuple[CapabilityKind, str]
"""A capability of one server, by its kind and its name."""


ITSELF: Final = "server"
"""How a server itself is named where it stands beside its capabilities: how it is launched or reached."""
Read = Mapping[Key | None, frozenset[str]]
"""The rules of the findings that somebody says to have read, by what they are in; None: in the server itself."""


class Answer(StrEnum):
    """What a person can answer."""

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
    BLOCK = "block"
    DENY = "deny"


WIDENING: Final = frozenset({Answer.APPROVE, Answer.ALLOW, Answer.INSPECT, Answer.ENABLE, Answer.UNBLOCK})
"""The answers after which more may happen than before. Every other one tightens, or only sorts the inbox; a permission,
and how replies are screened, does the one or the other."""


AGAIN: Final = "what lets more happen than before needs your password, given within the last minutes; give it once more"
ONLY_PEOPLE: Final = "{} is `tighten`: only a person who has signed in may let more happen than before"
SHELL: Final = "authority.shell"
TOKENS: Final = "authority.tokens"


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Actor:
    """Who decides or declares something. `via` is the door they came through, `process` what is known of the program.

    `may_widen`: whether they may let more happen than before; `recent`: whether they could not only because they signed
    in too long ago; `bound`: the setting that keeps them from it otherwise. `holds`: whether they may do anything
    still; it is asked when it is their turn, for they may have had to wait.
    """

    id: str
    via: str
    process: str = ""
    may_widen: bool = True
    recent: bool = True
    bound: str = SHELL
    holds: Callable[[], bool] = field(default=_always, compare=False, repr=False)

    def check_widening(self) -> None:
        """Raises Forbidden where they may not let more happen than before."""
        if self.may_widen:
            return
        raise Forbidden(ONLY_PEOPLE.format(self.bound)) if self.recent else PasswordNeeded(AGAIN)

    def check(self) -> None:
        """Raises Lapsed."""
        if not self.holds():
            raise Lapsed("whoever wanted this may do nothing any more")


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decides, and why; the reason is theirs and goes into the record as they wrote it."""

    by: Actor
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a person looked at before they answered: the server's identity, and each capability's definition.

    None for a definition that could not be read.
    """

    launch: Fingerprint
    observed: Fingerprint | None
    capabilities: Mapping[Key, Fingerprint | None]


@dataclass(frozen=True, slots=True)
class Approval:
    """What of a server is approved. `only` None: everything that can be. What is not named stands as it stood.

    `effects`: of tools, by name; a tool that is not there gets the most careful of what its server declares and what we
    suggest. `prefixes`: whoever may read the server may read every resource whose URI begins so. Of `prefixes` and
    `may_ask`, what is None stays as it is. `left_out`: what is explicitly not wanted. `read`: whose grave findings were
    read, and which, by their rules. `sandbox` and `mounts`: how it is confined from now on; None as it is.
    """

    seen: Seen
    only: frozenset[Key] | None = None
    effects: Mapping[str, Effect] = field(default_factory=dict)
    prefixes: tuple[str, ...] | None = None
    may_ask: frozenset[AskKind] | None = None
    read: Read = field(default_factory=dict)
    left_out: frozenset[Key] = frozenset()
    sandbox: Profile | None = None
    mounts: tuple[str, ...] | None = None


class Unknown(GuardError):
    """There is no such server, it has no such capability, or no such call is held."""


class Stale(GuardError):
    """Something else stands now than what the decision rests on. Nothing changed; `moved` says what did before."""

    def __init__(self, moved: tuple[str, ...]) -> None:
        super().__init__("what was decided about is not what stands now: " + "; ".join(moved))
        self.moved = moved


class Undecidable(GuardError):
    """The decision cannot be taken, whoever takes it. Says why, and what to do instead."""


class Unread(Undecidable):
    """It has grave findings, and nobody confirmed reading them. `what` names it, `rules` are theirs."""

    def __init__(self, what: str, rules: frozenset[str]) -> None:
        found = ", ".join(sorted(rules))
        super().__init__(f"{what} has grave findings ({found}); read them and say so, or do not approve")
        self.what = what
        self.rules = rules


class Forbidden(GuardError):
    """Whoever came through this door may not do that. Says who may."""


class Lapsed(Forbidden):
    """Whoever decides was revoked before it was their turn."""


class PasswordNeeded(Forbidden):
    """Whoever decides has to give their password once more before that."""


class NotDeclared(GuardError):
    """What was given declares no server: `problems` say why, `notices` what else was not read. None repeats a value."""

    def __init__(self, problems: tuple[str, ...], notices: tuple[str, ...] = ()) -> None:
        super().__init__("this declares no server: " + "; ".join(problems))
        self.problems = problems
        self.notices = notices


class NameTaken(GuardError):
    """There is a server of this name already."""


class DeclaredElsewhere(GuardError):
    """The server is declared in the configuration file, and is changed there. Says which file."""


class NeedsConsent(GuardError):
    """To inspect the server, something of it has to run or be contacted. Says exactly what; a person has to agree."""
