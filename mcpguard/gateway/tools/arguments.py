"""What an agent gives the guard face's tools, read strictly.

Rules kept here:
1. A member that is not known is refused and nothing is converted. What is wrong is told by its place, in words of ours.
2. Arguments are given in one form: as an object under one of the three names, or as the text of an object. Some clients
   send an object as its text, or the other way round; it is read strictly all the same.
"""

from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import GuardError
from mcpguard.text.visible import visible

LONGEST_QUERY: Final = 2000
LONGEST_REASON: Final = 1000
LONGEST_NAME: Final = 1200
LONGEST_KEY: Final = 100
FURTHEST: Final = 2**31
MOST_FOUND: Final = 100
MOST_NAMES: Final = 20
MOST_FILTERS: Final = 100
MOST_ARGUMENT_BYTES: Final = 4 * 1024 * 1024


def _storable(name: str) -> str:
    """See `gateway.asked`."""
    if "\0" in name:
        raise ValueError("a name has no NUL character")
    return name


Name = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_storable)]
UNKNOWN: Final = "Extra inputs are not permitted"


Given = TypeVar("Given", bound="ArgumentModel")


class UnusableArguments(GuardError):
    """What was given does not have its form. Says where and why; repeats no value."""


class ArgumentModel(BaseModel):
    """What all share."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Retrieve(ArgumentModel):
    query: Annotated[StrictStr, Field(max_length=LONGEST_QUERY)]
    limit: Annotated[StrictInt, Field(ge=1, le=MOST_FOUND)] = 15
    detail: Literal["compact", "full"] = "compact"
    effects: Annotated[list[Effect], Field(max_length=len(Effect))] | None = None
    servers: Annotated[list[Name], Field(max_length=MOST_FILTERS)] | None = None


class Describe(ArgumentModel):
    names: Annotated[list[Name], Field(min_length=1, max_length=MOST_NAMES)]


class Variant(ArgumentModel):
    """A call with a declared intent; the intent itself is read by `policy`."""

    name: Name
    arguments: dict[str, Any] | None = None
    args: dict[str, Any] | None = None
    args_json: StrictStr | dict[str, Any] | None = None
    intent: Any = None
    intent_data_sensitivity: Any = None
    intent_reason: Any = None

    @model_validator(mode="after")
    def _in_one_form(self) -> Self:
        if sum(form is not None for form in (self.arguments, self.args, self.args_json)) > 1:
            raise ValueError("arguments, args and args_json say the same thing; give one of them")
        return self

    @property
    def own(self) -> dict[str, Any]:
        """The tool's own arguments. Raises UnusableArguments."""
        if not isinstance(self.args_json, str):
            return next((each for each in (self.args_json, self.arguments, self.args) if each is not None), {})
        if not self.args_json.strip():
            return {}
        written = _object_of(self.args_json)
        if written is None:
            raise UnusableArguments("args_json is not the text of a JSON object")
        return written

    @field_validator("intent")
    @classmethod
    def _intent_as_object(cls, intent: object) -> object:
        """The intent, also where a client sends it as text. What is no object is refused by `policy`, and recorded."""
        written = _object_of(intent) if isinstance(intent, str) else None
        return intent if written is None else written


class CallToolArguments(ArgumentModel):
    server: Name
    tool: Name
    arguments: dict[str, Any] | None = None


class More(ArgumentModel):
    """Without an offset it goes on where the reply was cut."""

    key: Annotated[StrictStr, Field(max_length=LONGEST_KEY)]
    offset: Annotated[StrictInt, Field(ge=0, le=FURTHEST)] | None = None
    limit: Annotated[StrictInt, Field(ge=1, le=FURTHEST)] | None = None


def read(form: type[Given], arguments: object) -> Given:
    """Raises UnusableArguments."""
    if not isinstance(arguments, dict):
        raise UnusableArguments("the arguments are no object")
    if len(arguments) > len(form.model_fields):  # whoever gives very many is told of one, which takes no time
        unknown = next(name for name in arguments if name not in form.model_fields)
        raise UnusableArguments(f"{_place(unknown)}: {UNKNOWN}")
    try:
        return form.model_validate(arguments)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = _place(*first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise UnusableArguments(f"{place}: {said}" if place else said) from None


def _object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that the text stands for; None where it stands for none."""
    try:
        written = parse(text.encode(), max_bytes=MOST_ARGUMENT_BYTES)
    except (StrictError, UnicodeError):
        return None
    return written if isinstance(written, dict) else None


def _place(*parts: object) -> str:
    return visible(".".join(str(part) for part in parts)[:100])
