"""Detects shell commands in text that a model reads (T24)."""

import re
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.text.linear import AnyOf

_COMMAND: Final = RULES["command.text"]
_SHOWN: Final = RULES["command.shown"]
_ALWAYS: Final = (
    "rm -rf", "rm -fr", "/dev/tcp/", "base64 -d", "base64 --decode",
    "powershell -e ", "powershell -enc", "powershell.exe -e ", "powershell.exe -enc",
    "-encodedcommand", "invoke-expression", "iex(", "iex (", "downloadstring", "nc -e", "ncat -e", "bash -i", "sh -i",
    "mkfifo ", "chmod +x /tmp", "chmod 777", "chmod -r ", "curl -d @", "curl -f file=@", "curl -x post", "eval(atob",
    "exec(base64", "; rm ", "&& rm ", "| xargs rm", "certutil -urlcache", "bitsadmin", "mshta http", "rundll32",
    "del /f /s", "format c:", "mkfs.", "dd if=/dev", ":(){", "> /dev/sd", "crontab -", ">> ~/.bashrc", ">> ~/.ssh",
    "/etc/cron", "__import__(", "os.system('", "os.system(\"", "child_process').exec", "child_process\").exec",
    "--index-url http://", "--extra-index-url http", ">> ~/.profile", "authorized_keys <<", "tee -a ~/",
    "launchctl load", "schtasks /create", "reg add ", "setx ", "osascript -e", "nohup curl", "socat tcp", "$(curl",
    "`curl", "$(cat ", "wget -o- ", "wget -qo- ", "python -c \"import", "python3 -c \"import",
)  # fmt: skip
_ANY_ALWAYS: Final = AnyOf(_ALWAYS)
_FETCH: Final = re.compile(r"\b(?:curl|wget|fetch)\b[^|\n]{1,300}+\|\s{0,4}+(?:sudo\s)?(?:ba|z|da|k)?sh\b")
_MAKE: Final = re.compile(r"\bchmod \+x [^\n]{1,200}?(?:&&|;)")
_FETCHING: Final = (
    "curl http",
    "wget http",
    "curl -",
    "iwr http",
    "invoke-webrequest",
    "os.system(",
    "child_process",
    "subprocess.",
)
_MANUAL: Final = (
    "readme", "documentation", "to install", "install with", "for example", "snippet", "such as", "e.g.",
    "instructions,", "deny list", "denylist", "blocklist", "block list", "forbidden", "dangerous commands",
    "destructive commands",
)  # fmt: skip
_NEAR: Final = 100
"""How many characters before a command may say that it is an example from a manual."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        plain = text.raw.lower()
        if len(plain) == len(text.raw) and (span := find_command(plain)):
            yield (_SHOWN if _in_manual(plain[max(0, span[0] - _NEAR) : span[0]]) else _COMMAND).finding_at(
                text.evidence_at(*span)
            )
        elif span := _first(text, _FETCHING, plain):
            yield _SHOWN.finding_at(text.evidence_at(*span))


def find_command(plain: str) -> tuple[int, int] | None:
    """Return the span of the first dangerous command in a text in lower case."""
    for each in _ALWAYS if _ANY_ALWAYS.occur_in(plain) else ():
        if (at := plain.find(each)) >= 0 and not (each[0].isalnum() and at and plain[at - 1].isalnum()):
            return at, at + len(each)
    match = _FETCH.search(plain) if "|" in plain else None
    match = match or (_MAKE.search(plain) if "chmod" in plain else None)
    return match.span() if match else None


def _first(text: Text, marks: tuple[str, ...], plain: str) -> tuple[int, int] | None:
    if len(plain) != len(text.raw):
        return None
    return next(((at, at + len(mark)) for mark in marks if (at := plain.find(mark)) >= 0), None)


def _in_manual(plain: str) -> bool:
    return any(word in plain for word in _MANUAL)


DETECTOR: Final = Detector((_COMMAND, _SHOWN), _find)
