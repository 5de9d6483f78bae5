"""How long a test waits for what must come."""

from typing import Final

PATIENCE: Final = 180.0
"""Seconds. Only a test that fails waits as long: it says nothing of how fast anything is."""
