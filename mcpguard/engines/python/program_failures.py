"""Says why a program has no value, in the words that the guard knows.

A part of the worker, which the guard does not import.
"""

from typing import Final

from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

WITHIN: Final = "<string>"
"""What the engine calls a program that a program runs by `eval` or `exec`."""
OUT_OF_TIME: Final = "time limit exceeded"
OUT_OF_MEMORY: Final = ("memory limit exceeded", "exceeded its memory limit")
OUT_OF_STEPS: Final = "suspension limit"


class ProgramFailed(Exception):
    """The program ended without a value. `said` is the message to the guard."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.said = {"failed": {"code": code, "message": message, "line": line}}


def failure_of(error: MontyError | RecursionError | MemoryError | ValueError) -> ProgramFailed:
    """Return how a program ended that the engine gave up."""
    message, line = str(error), None
    if isinstance(error, MontySyntaxError | MontyRuntimeError):
        line = next((each.line for each in reversed(error.traceback()) if each.filename != WITHIN), None)
    if isinstance(error, MontySyntaxError):
        return ProgramFailed("SYNTAX_ERROR", message, line)
    if OUT_OF_TIME in message or (isinstance(error, MontyCrashedError) and error.timed_out):
        return ProgramFailed("TIMEOUT", "the program ran for longer than it may", line)
    if isinstance(error, MemoryError) or any(words in message for words in OUT_OF_MEMORY):
        return ProgramFailed("LIMIT_EXCEEDED", "the program uses more memory than it may", line)
    if OUT_OF_STEPS in message:
        return ProgramFailed("LIMIT_EXCEEDED", "the program calls, logs and sleeps more often than it may", line)
    if isinstance(error, MontyError):
        return ProgramFailed("RUNTIME_ERROR", message, line)
    return ProgramFailed("SERIALIZATION_ERROR", f"the value cannot be written as JSON: {message}")
