"""Masks secrets in server output other than replies: those the server was given, and obvious ones.

Rules kept here:
1. All lines that have arrived are searched as one text, so a flood of lines costs little more than its bytes.
2. A private key arrives line by line. Once one has begun, nothing is passed on until a line arrives that cannot belong
   to it.
3. Any other secret that is split over several texts is not found.
"""

import re
from typing import Final

from mcpguard.policy.secrets.masking import Spellings, mask_secrets

LONGEST_KEY: Final = 200
"""Lines."""
KEY: Final = "(hidden: private-key)"
_BEGINS: Final = re.compile("-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY", re.IGNORECASE)
_WITHIN: Final = re.compile(r"\s*[0-9A-Za-z+/=]*\s*|.*[0-9A-Za-z+/=]{32}.*|\s*[A-Za-z-]+: .*|.*-----END.*")
"""Matches a line that may belong to a private key."""


class SecretHiding:
    """Masks the texts of one server, in order. `known`: the secrets that it was given."""

    def __init__(self, known: Spellings = ()) -> None:
        self._known = known
        self._left = 0

    def __call__(self, text: str) -> str:
        """Return the text as it may be stored; the lines of a key are removed."""
        kept = list[str]()
        text = self.line(self._after_key(text))
        while begins := _BEGINS.search(text):
            kept += text[: begins.start()], KEY, "\n"
            # A key that never ends must not hide the rest of the log: after so many lines it counts as over.
            self._left = LONGEST_KEY
            text = self._after_key(text[begins.end() :].partition("\n")[2])
        return "".join((*kept, text))

    def line(self, text: str) -> str:
        """Return a single line as it may be stored."""
        return mask_secrets(text, self._known).value

    def hide_alone(self, text: str) -> str:
        """Return a text as it may be stored that came before, without an effect on the texts that follow."""
        return SecretHiding(self._known)(text)

    def _after_key(self, text: str) -> str:
        while self._left and text:
            line, _, rest = text.partition("\n")
            if not _WITHIN.fullmatch(line):
                self._left = 0
                return text
            self._left = 0 if "-----END" in line else self._left - 1
            text = rest
        return text
