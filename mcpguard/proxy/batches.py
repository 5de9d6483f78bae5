"""The answer of a batch: for each operation, in order, the result that it would have had alone."""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.codec.messages import dumps
from mcpguard.proxy import envelope
from mcpguard.proxy.operations import OPERATIONS

FULL: Final = f"{OPERATIONS}: this answer is as large as one may become; ask for the rest again"


class BatchResults:
    """Collects results one after the other. `is_full` says that the answer is large already and nothing more should be
    begun.
    """

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._size = 0
        self._failed: list[int] = []

    @property
    def is_full(self) -> bool:
        return self._size > envelope.LARGEST_LIST

    def add(self, result: Mapping[str, Any]) -> None:
        if result.get("isError") is True:
            self._failed.append(len(self._texts))
        self._texts.append(dumps(result))
        self._size += len(self._texts[-1])

    def answer(self) -> dict[str, Any]:
        return envelope.batch_answer(self._texts, self._failed)
