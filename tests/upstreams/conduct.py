"""What servers do that tests tell them to."""

import itertools
from collections.abc import Callable
from typing import Any

from tests.simulators.asked import Asked, Reply
from tests.simulators.script import Hook, Next
from tests.simulators.words import Json, RpcError, failure


def failing(error: RpcError) -> Callable[[Asked], Json]:
    def answer(_: Asked) -> Json:
        raise error

    return answer


def holding(*numbers: int) -> Hook:
    """Keeps these answers, counted from 1; each is what it was when it was asked for."""
    counted = itertools.count(1)

    async def hook(asked: Asked, go_on: Next) -> Reply:
        number, reply = next(counted), await go_on()
        if number in numbers:
            await asked.script.hold()
        return reply

    return hook


def refusing(code: int, data: object) -> Callable[[Asked, Next], Any]:
    async def hook(asked: Asked, _: Next) -> Reply:
        return failure(asked.id, RpcError(code, "no", data))

    return hook
