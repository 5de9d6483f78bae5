"""The signature of an approved tool in Python, for agents that write programs."""

from mcpguard.engines.python_stubs import stub


def python_signature(server: str, tool: str, schema: object) -> str:
    """Return the call of a tool as a stub, with the types of its arguments, made from the approved input schema."""
    written = stub("call_tool", "Arguments", schema)
    return written.replace("(server: str, tool: str, ", f"(server: Literal[{server!a}], tool: Literal[{tool!a}], ", 1)
