"""Forms that are carried out once, however often they are sent: reloading the page of a new token creates no second
one.

Rule kept here: each form has a unique number, and the numbers of the newest sent forms are known until the process
ends.
"""

import secrets
from collections import OrderedDict
from typing import Final

from mcpguard.web.forms import Misshapen, SentForm

FIELD: Final = "once"
MOST: Final = 10_000
AGAIN: Final = "this form was already sent and carried out; its token is not shown again"
NUMBERLESS: Final = "the form is incomplete; reload the page and try again"
_BYTES: Final = 16
_LONGEST: Final = 64


class SingleUseForms:
    """The numbers of forms that were sent."""

    def __init__(self) -> None:
        self._sent: OrderedDict[str, None] = OrderedDict()

    def new_number(self) -> str:
        """Return the number of a new form."""
        return secrets.token_urlsafe(_BYTES)

    def use(self, given: SentForm) -> None:
        """Mark a form as sent. Raises Misshapen if it was sent before, or has no number."""
        number = given.one(FIELD)
        if not 0 < len(number) <= _LONGEST:
            raise Misshapen(422, NUMBERLESS)
        if number in self._sent:
            raise Misshapen(409, AGAIN)
        self._sent[number] = None
        while len(self._sent) > MOST:
            self._sent.popitem(last=False)
