"""Reads strictly what an agent passes to the guard face's tools.

Rules kept here:
1. An unknown member is refused and nothing is converted. An error names the place, in fixed words.
2. Arguments come in one form: an object under one of the three names, or the text of an object. Some clients send an
   object as its text, or the other way round; it is read just as strictly.
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
from mcpguard.engines.code_run import LONGEST_PROGRAM
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
    """Refuse a NUL character, which not every database could record."""
    if "\0" in name:
        raise ValueError("a name cannot contain a NUL character")
    return name


Name = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_storable)]
UNKNOWN: Final = "Extra inputs are not permitted"


Given = TypeVar("Given", bound="ArgumentModel")


class UnusableArguments(GuardError):
    """Arguments of the wrong form. The sentence says where and why, and repeats no value."""


class ArgumentModel(BaseModel):
    """The base of all argument forms."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class RetrieveArguments(ArgumentModel):
    query: Annotated[StrictStr, Field(max_length=LONGEST_QUERY)]
    limit: Annotated[StrictInt, Field(ge=1, le=MOST_FOUND)] = 15
    detail: Literal["compact", "full"] = "compact"
    effects: Annotated[list[Effect], Field(max_length=len(Effect))] | None = None
    servers: Annotated[list[Name], Field(max_length=MOST_FILTERS)] | None = None


class DescribeArguments(ArgumentModel):
    names: Annotated[list[Name], Field(min_length=1, max_length=MOST_NAMES)]
    form: Annotated[Literal["schema", "python"], Field(alias="as")] = "schema"


class VariantArguments(ArgumentModel):
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
            raise ValueError("arguments, args and args_json mean the same; give only one of them")
        return self

    @property
    def own(self) -> dict[str, Any]:
        """The arguments of the tool that is called. Raises UnusableArguments."""
        if not isinstance(self.args_json, str):
            return next((each for each in (self.args_json, self.arguments, self.args) if each is not None), {})
        if not self.args_json.strip():
            return {}
        written = _object_of(self.args_json)
        if written is None:
            raise UnusableArguments("args_json must be a JSON object as text")
        return written

    @field_validator("intent")
    @classmethod
    def _intent_as_object(cls, intent: object) -> object:
        """Read an intent that a client sends as text. Anything that is no object is left to `policy`, which refuses it
        with a record.
        """
        written = _object_of(intent) if isinstance(intent, str) else None
        return intent if written is None else written


class CallToolArguments(ArgumentModel):
    server: Name
    tool: Name
    arguments: dict[str, Any] | None = None


class ReadMoreArguments(ArgumentModel):
    """Which page of a long reply to read. Without an offset, reading continues where the reply was cut."""

    key: Annotated[StrictStr, Field(max_length=LONGEST_KEY)]
    offset: Annotated[StrictInt, Field(ge=0, le=FURTHEST)] | None = None
    limit: Annotated[StrictInt, Field(ge=1, le=FURTHEST)] | None = None


class CodeOptions(ArgumentModel):
    timeout_ms: Annotated[StrictInt, Field(ge=1, le=3_600_000)] | None = None
    max_tool_calls: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = None
    allowed_servers: Annotated[list[Name], Field(max_length=MOST_FILTERS)] | None = None


class CodeArguments(ArgumentModel):
    """A program. Its intent is read by `policy`."""

    code: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_PROGRAM), AfterValidator(_storable)]
    language: Literal["python", "javascript", "typescript"] = "python"
    input: Any = None
    options: CodeOptions = CodeOptions()
    intent: Any = None


def read(form: type[Given], arguments: object) -> Given:
    """Read arguments into their form. Raises UnusableArguments."""
    if not isinstance(arguments, dict):
        raise UnusableArguments("the arguments must be an object")
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
    """Return the JSON object in a text; None if there is none."""
    try:
        written = parse(text.encode(), max_bytes=MOST_ARGUMENT_BYTES)
    except (StrictError, UnicodeError):
        return None
    return written if isinstance(written, dict) else None


def _place(*parts: object) -> str:
    return visible(".".join(str(part) for part in parts)[:100])
