"""What all answers share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Moment = Annotated[int, Field(description="Microseconds since 1970 in UTC.")]
Next = Annotated[str | None, Field(description="The cursor of the next page; null where this is the last.")]
Fingerprint = Annotated[str, Field(description="A fingerprint, `v1:` and 64 hexadecimal digits.")]


class ApiAnswer(BaseModel):
    """Exactly these members."""

    model_config = ConfigDict(extra="forbid")
