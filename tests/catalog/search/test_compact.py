"""A tool in two lines that nothing foreign can break out of."""

from typing import Any

import pytest

from mcpguard.catalog.search.compact import LONGEST_SIGNATURE, LONGEST_SUMMARY, signature, summary
from tests.catalog.search.offers import tool


def schema(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        (tool("ping"), "ping()"),
        (
            tool(
                "read", inputSchema={**schema(head={"type": "integer"}, path={"type": "string"}), "required": ["path"]}
            ),
            "read(path: string, head?: integer)",
        ),
        (tool("a", inputSchema=schema(tags={"type": "array", "items": {"type": "string"}})), "a(tags?: string[])"),
        (tool("a", inputSchema=schema(mode={"enum": ["r", "w"]})), 'a(mode?: "r" | "w")'),
        (
            tool("a", inputSchema=schema(modes={"type": "array", "items": {"enum": ["r", "w"]}})),
            'a(modes?: ("r" | "w")[])',
        ),
        (tool("a", inputSchema=schema(x={"type": ["string", "null"]})), "a(x?: string | null)"),
        (tool("a", inputSchema=schema(x={"anyOf": [{"type": "string"}, {"type": "null"}]})), "a(x?: string | null)"),
        (tool("a", inputSchema=schema(x={}, y={"type": "made up"}, z=None)), "a(x?: any, y?: any, z?: any)"),
        (tool("a", outputSchema=schema(celsius={}, sky={})), "a() -> {celsius, sky}"),
        (tool("a", outputSchema={"type": "object"}), "a() -> object"),
        ({}, "()"),
        ({"name": 5, "inputSchema": [], "outputSchema": "x"}, "()"),
    ],
)
def test_a_signature_says_how_a_tool_is_called(definition: dict[str, Any], line: str) -> None:
    assert signature(definition) == line


def test_what_is_left_out_is_marked() -> None:
    many = signature(tool("a", inputSchema=schema(**{f"p{at}": {} for at in range(50)})))
    assert many.endswith("p11?: any, …)")
    assert signature(tool("a", inputSchema=schema(x={"enum": [*"abcdefg"]}))).endswith('"e" | …)')
    assert signature(tool("a", outputSchema=schema(**{f"p{at}": {} for at in range(9)}))).endswith("p5, …}")


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "\u202e\n\r\x1b[31m" * 50_000, "\u200b" * 100_000, "a\u2028b " * 9_000]
)
def test_whatever_is_foreign_stays_on_one_short_line(text: str) -> None:
    everything = {text + str(at): {"enum": [text], "type": text, "items": {}} for at in range(30)}
    definition = tool(text, text, inputSchema=schema(**everything), outputSchema=schema(**everything))
    for line, longest in ((signature(definition), LONGEST_SIGNATURE), (summary(definition), LONGEST_SUMMARY)):
        assert len(line) <= longest
        assert line.isprintable()


@pytest.mark.parametrize(
    ("description", "line"),
    [
        ("Reads a file. Then more.", "Reads a file."),
        ("Reads v1.2 of a file, e.g.this! And", "Reads v1.2 of a file, e.g.this!"),
        ("  Reads\n  a file\n\nArgs: path", "Reads a file"),
        ("Reads:\n- a file\n- a folder", "Reads:"),
        ("\u8bfb\u53d6\u6587\u4ef6\u3002\u7136\u540e", "\u8bfb\u53d6\u6587\u4ef6\u3002"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_summary_is_the_first_sentence(description: object, line: str) -> None:
    assert summary({"name": "a", "description": description}) == line
