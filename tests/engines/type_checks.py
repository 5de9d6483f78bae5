"""Checks calls against a stub as a worker does, in one engine for all tests of a file."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic_monty import Monty, MontyTypingError

from mcpguard.engines.python.checked_copy import CheckedCopy
from mcpguard.engines.python.written_calls import written_calls
from mcpguard.engines.python_stubs import program_stubs


class TypeChecks:
    """An engine that checks and runs nothing."""

    def __init__(self, pool: Monty) -> None:
        self._pool = pool

    def remarks(self, schema: object, *values: object) -> str:
        """What is wrong with calls with these arguments; empty where nothing is."""
        source = "\n".join(f"call_tool('s', 't', {value!r})" for value in values)
        copy = CheckedCopy(written_calls(source).calls, {("s", "t"): "call_tool__0"})
        assert copy.text.count("call_tool__0(") == len(values)
        stubs, _ = program_stubs({0: schema})
        with self._pool.checkout(type_check=True, type_check_stubs=stubs, type_check_format="concise") as session:
            try:
                session.feed_start(copy.text)
            except MontyTypingError as error:
                return copy.remarks(error.display())[0]
        return ""


@contextmanager
def type_checks() -> Iterator[TypeChecks]:
    with Monty(max_processes=1) as pool:
        yield TypeChecks(pool)
