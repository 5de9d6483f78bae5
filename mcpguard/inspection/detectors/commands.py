"""Commands for a shell in a text that is read by a model (T24)."""

import re
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings
from mcpguard.inspection.texts.texts import DefinitionTexts, Text

_COMMAND: Final = DetectorRule(
    "command.text", "T24", Severity.HIGH, 0.55, "It has a command that fetches and runs code, or destroys"
)
_SHOWN: Final = DetectorRule("command.shown", "T24", Severity.LOW, 0.15, "It shows a command line, as manuals do")
_ALWAYS: Final = (
    "rm -rf", "rm -fr", "/dev/tcp/", "base64 -d", "base64 --decode", "powershell -e", "powershell.exe -e",
    "-encodedcommand", "invoke-expression", "iex(", "iex (", "downloadstring", "nc -e", "ncat -e", "bash -i", "sh -i",
    "mkfifo ", "chmod +x /tmp", "chmod 777", "chmod -r ", "curl -d @", "curl -f file=@", "curl -x post", "eval(atob",
    "exec(base64", "; rm ", "&& rm ", "| xargs rm", "certutil -urlcache", "bitsadmin", "mshta http", "rundll32",
    "del /f /s", "format c:", "mkfs.", "dd if=/dev", ":(){", "> /dev/sd", "crontab -", ">> ~/.bashrc", ">> ~/.ssh",
    "/etc/cron", "__import__(", "os.system('", "os.system(\"", "child_process').exec", "child_process\").exec",
    "--index-url http://", "--extra-index-url http", ">> ~/.profile", "authorized_keys <<", "tee -a ~/",
    "launchctl load", "schtasks /create", "reg add ", "setx ", "osascript -e", "nohup curl", "socat tcp", "$(curl",
    "`curl", "$(cat ", "wget -o- ", "wget -qo- ", "python -c \"import", "python3 -c \"import",
)  # fmt: skip
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
    "instructions,",
)  # fmt: skip
_NEAR: Final = 100
"""How far before a command it is said to be one of a manual."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        plain = text.raw.lower()
        if len(plain) == len(text.raw) and (span := command(plain)):
            yield (_SHOWN if _in_manual(plain[max(0, span[0] - _NEAR) : span[0]]) else _COMMAND).at(text.at(*span))
        elif span := _first(text, _FETCHING, plain):
            yield _SHOWN.at(text.at(*span))


def command(plain: str) -> tuple[int, int] | None:
    """The first command that nobody needs to be told, in a text in lower case."""
    for each in _ALWAYS:
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
