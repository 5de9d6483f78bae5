"""Refuses arguments that do not match the approved definition (`policy.arguments`)."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return situation.arguments.unfit if situation.arguments is not None else None
