"""The condition that a text occurs in a record: in its names and reasons, or in the response of a call that failed.

Rules kept here:
1. Only the values of `FIELDS` are searched, never the names of fields, and no match reaches into another value.
2. Whatever somebody else wrote into the store matches or not; it never breaks a search. So PostgreSQL searches the
   bytes, as invalid JSON would end its query, and SQLite asks first whether it is JSON.
3. Letters A to Z match in either case. `*` stands for any characters and `?` for one.

Content is canonical JSON and a body is mostly JSON, so a text is searched as JSON writes it in a string.
"""

import re
from functools import reduce
from typing import Final

import orjson
from sqlalchemy import ColumnElement, String, and_, case, cast, false, func, literal, or_, select

from mcpguard.store.rows.tables import bodies, records

FIELDS: Final = (
    *("server", "name", "caller", "caller_label", "client", "user_name", "by", "script"),
    *("reason", "intent_reason", "why", "failure"),
)
"""The fields of a record that are searched."""
Condition = ColumnElement[bool]
_WILD: Final = re.compile(r"([*?])")
_CHARACTER: Final = r'(?:[^"\\]|\\\\.|\\3[0-7]{2}(?:\\2[0-7]{2})*)'
"""A character in a JSON string, as PostgreSQL escapes bytes: plain, escaped by JSON, or one beyond ASCII."""
_ASCII_LETTER: Final = re.compile(r"[A-Za-z]")


def says(dialect: str, value: str) -> Condition:
    """Return the condition that a record has this text."""
    reply = select(bodies.c.content).where(bodies.c.chain == records.c.chain, bodies.c.seq == records.c.seq)
    body = reply.correlate(records).scalar_subquery()
    if dialect == "sqlite":
        said, replied = _in_sqlite(value), _text(body).like(_pattern(value), escape="\\")
    else:
        said, replied = _in_postgresql(value), _escaped(body).bool_op("~")(_expression(value))
    return or_(said, and_(records.c.outcome == "failed", func.coalesce(replied, false())))


def _in_sqlite(value: str) -> Condition:
    text = _text(records.c.content)
    # Nearly no record has the text at all; only those that do are parsed.
    anywhere = text.like(_pattern(value.replace("?", "*")), escape="\\")
    whole = func.replace(text, "\\u0000", "\\ufffd")  # SQLite ends a value at a null character, and would hide the rest
    found = (func.coalesce(func.json_extract(whole, f"$.{name}"), "") for name in FIELDS)
    values: list[ColumnElement[str]] = [cast(func.json_quote(each), String) for each in found]
    joined = reduce(_join, values)
    readable = case((func.json_valid(whole) == 1, joined), else_="")
    return case((anywhere, readable.like(_pattern(value), escape="\\")), else_=false())


def _in_postgresql(value: str) -> Condition:
    names = "|".join(FIELDS)
    return _escaped(records.c.content).bool_op("~")(f'"(?:{names})":"{_CHARACTER}*?{_expression(value)}')


def _join(one: ColumnElement[str], other: ColumnElement[str]) -> ColumnElement[str]:
    return one + literal("\n") + other


def _text(column: ColumnElement[bytes]) -> ColumnElement[str]:
    return cast(column, String)


def _escaped(column: ColumnElement[bytes]) -> ColumnElement[str]:
    """Make bytes text: backslashes are doubled, and bytes beyond ASCII are octal numbers after a backslash."""
    return func.encode(column, "escape")


def _pattern(value: str) -> str:
    """Return the pattern with which LIKE finds a text anywhere."""
    written = _in_json(value)
    for plain, escaped in (("\\", "\\\\"), ("%", "\\%"), ("_", "\\_"), ("*", "%"), ("?", "_")):
        written = written.replace(plain, escaped)
    return f"%{written}%"


def _expression(value: str) -> str:
    """Return the regular expression that finds a text in a JSON string whose bytes PostgreSQL has escaped."""
    wild = {"*": f"{_CHARACTER}*?", "?": _CHARACTER}
    return "".join(wild.get(part) or _literally(part) for part in _WILD.split(value) if part)


def _literally(part: str) -> str:
    octal = "".join(
        "\\\\" if byte == 0x5C else chr(byte) if byte < 0x80 else f"\\{byte:o}" for byte in _in_json(part).encode()
    )
    return _ASCII_LETTER.sub(lambda letter: f"[{letter[0].upper()}{letter[0].lower()}]", re.escape(octal))


def _in_json(value: str) -> str:
    """Return a text as it is written in a JSON string, without the quotes around it."""
    return orjson.dumps(value).decode()[1:-1]
