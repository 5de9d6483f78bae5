"""The appearance that a reader chose: a cookie with fixed words, and nothing about the reader."""

from dataclasses import dataclass
from typing import Final, Self

from fastapi import Request
from fastapi.responses import Response

NAME: Final = "mcpguard_looks"
THEMES: Final = ("light", "dark")
YEAR: Final = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Looks:
    """The appearance of pages. `theme` is empty for that of the system; `roomy` means more space in tables; `keys`
    enables keyboard shortcuts.
    """

    theme: str = ""
    roomy: bool = False
    keys: bool = True

    @classmethod
    def from_request(cls, request: Request) -> Self:
        """Read the appearance from the cookie; unknown words are ignored."""
        words = request.cookies.get(NAME, "").split(".")
        theme = next((each for each in THEMES if each in words), "")
        return cls(theme, "roomy" in words, "nokeys" not in words)

    def give(self, response: Response, *, secure: bool) -> None:
        words = [self.theme, *(["roomy"] if self.roomy else []), *([] if self.keys else ["nokeys"])]
        value = ".".join(filter(None, words))
        response.set_cookie(NAME, value, max_age=YEAR, httponly=True, samesite="strict", secure=secure)
