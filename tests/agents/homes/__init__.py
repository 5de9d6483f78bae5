"""Homes as programs leave them, with comments, trailing commas, byte order marks and other line ends. All invented."""

from pathlib import Path

from mcpguard.agents.program import Home

LINUX = Path(__file__).parent / "linux"
PROJECT = Path(__file__).parent / "project"
SECRETS = ("correct-horse-7-battery", "fixture-claude-code-token-0001", "fixture-desktop-key-0002")
"""Every secret that is written out in them."""


def home(folder: Path = LINUX, platform: str = "linux", **environment: str) -> Home:
    return Home(folder, platform, environment)
