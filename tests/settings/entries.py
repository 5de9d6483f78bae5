"""Entries of a file that declares servers, and a value that must be seen nowhere."""

CANARY = "canary-4b1f7"


def stdio(**members: object) -> dict[str, object]:
    return {"command": "x"} | members


def remote(**members: object) -> dict[str, object]:
    return {"url": "https://h/"} | members
