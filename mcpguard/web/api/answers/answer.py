"""The base of all answers, and the types that they share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Moment = Annotated[int, Field(description="Microseconds since 1970-01-01 UTC.")]
Next = Annotated[str | None, Field(description="The cursor of the next page; null on the last page.")]
Fingerprint = Annotated[str, Field(description="A fingerprint: `v1:` and 64 hexadecimal digits.")]


class ApiAnswer(BaseModel):
    """An answer with exactly the declared members."""

    model_config = ConfigDict(extra="forbid")
