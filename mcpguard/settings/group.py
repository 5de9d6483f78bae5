"""The base class of all settings groups: frozen, closed to unknown keys, and documented where they are declared."""

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Group(BaseModel):
    """The base of all groups."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_not_one(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, bool) and cls.model_fields[info.field_name or ""].annotation in (int, float, int | None):
            raise ValueError("must be a number, not true or false")
        return value
