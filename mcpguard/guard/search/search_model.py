"""Loads the model that ranks tools by meaning, which the extra `semantic` brings, where the setting is on.

Rules kept here:
1. Without the setting, neither the model nor NumPy is loaded, installed or not.
2. Nothing is fetched: what is not installed, or is another file than was measured, stops the start with a sentence.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from mcpguard.settings.guard_groups import SearchSettings
from mcpguard.settings.problems import SettingsError

if TYPE_CHECKING:
    from mcpguard.guard.search.tool_meanings import ToolMeanings

HOW: Final = "install mcpguard-firewall[semantic], or leave the setting out"
_THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


async def tool_meanings(settings: SearchSettings) -> "ToolMeanings | None":
    """Return what ranks tools by meaning; None where that is not wanted. Raises SettingsError."""
    return await to_thread.run_sync(_load) if settings.semantic else None


def _load() -> "ToolMeanings":
    try:
        with _one_thread():
            from mcpguard.catalog.search.semantic.model_weights import ModelRefused  # noqa: PLC0415
            from mcpguard.catalog.search.semantic.sentence_model import SentenceModel  # noqa: PLC0415
            from mcpguard.guard.search.tool_meanings import ToolMeanings  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SettingsError((f"search.semantic: {error.name} is not installed; {HOW}",)) from error
    try:
        return ToolMeanings(SentenceModel.from_file())
    except ModelRefused as error:
        raise SettingsError((f"search.semantic: {error}; {HOW}",)) from error


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have NumPy loaded with one thread for its arithmetic, which more would only take from calls."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
