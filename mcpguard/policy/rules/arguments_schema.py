"""Whether the arguments are what the definition describes that a person approved (`policy.arguments`)."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return situation.arguments.unfit if situation.arguments is not None else None
