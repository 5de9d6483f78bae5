"""What a server says outside of any answer, without what it was given in confidence and what surely is a secret.

Rules kept here:
1. A text is looked at as a whole: as many lines as have come. So a flood of lines costs little more than its bytes.
2. A private key is written line by line. Once one has begun, nothing is told until a line comes that cannot belong to
   it.
3. What is split in another way over texts that come one after the other is not found.
"""

import re
from typing import Final

from mcpguard.policy.secrets.masking import Spellings, mask_secrets

LONGEST_KEY: Final = 200
"""Lines."""
KEY: Final = "(hidden: private-key)"
_BEGINS: Final = re.compile("-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY", re.IGNORECASE)
_WITHIN: Final = re.compile(r"\s*[0-9A-Za-z+/=]*\s*|.*[0-9A-Za-z+/=]{32}.*|\s*[A-Za-z-]+: .*|.*-----END.*")
"""Lines of a key."""


class Hiding:
    """For the texts of one server, in order. `known`: what it was given in confidence."""

    def __init__(self, known: Spellings = ()) -> None:
        self._known = known
        self._left = 0

    def __call__(self, text: str) -> str:
        """The text as it may be kept; lines of a key are gone."""
        kept = list[str]()
        text = self.line(self._after_key(text))
        while begins := _BEGINS.search(text):
            kept += text[: begins.start()], KEY, "\n"
            self._left = LONGEST_KEY
            text = self._after_key(text[begins.end() :].partition("\n")[2])
        return "".join((*kept, text))

    def line(self, text: str) -> str:
        """The same of what is no more than a line."""
        return mask_secrets(text, self._known).value

    def again(self, text: str) -> str:
        """The same of what came before, and is looked at once more."""
        return Hiding(self._known)(text)

    def _after_key(self, text: str) -> str:
        while self._left and text:
            line, _, rest = text.partition("\n")
            if not _WITHIN.fullmatch(line):
                self._left = 0
                return text
            self._left = 0 if "-----END" in line else self._left - 1
            text = rest
        return text
