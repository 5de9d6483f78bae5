"""What a model writes and reads while it works on a task, and how many tokens that is.

Rules kept here:
1. All of it is counted once: the definitions of the tools as `tools/list` has them, the task, every call that the model
   writes, the text of every answer, and its own answer. What a client puts around messages is not.
2. What a model thinks is not counted, although one without programs has to think about much more.
3. A model calls no tool of a server before it has read its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpguard.codec.messages import dumps
from tests.benchmarks.gateway.client import Client
from tests.benchmarks.report import Row
from tests.tokens import counted

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What a model writes at once, and what it then reads."""

    wrote: str
    read: str = ""


@dataclass
class Transcript:
    """One conversation. `calls`: how many calls the servers got."""

    way: str
    definitions: str
    task: str
    turns: list[ModelTurn] = field(default_factory=list)
    calls: int = 0

    @property
    def texts(self) -> list[str]:
        """The definitions, the task, and by turns what was written and what was read."""
        return [self.definitions, self.task, *(text for turn in self.turns for text in (turn.wrote, turn.read))]


class TaskModel:
    """A model that works on a task: it knows nothing but what it was told and has read."""

    def __init__(self, client: Client, transcript: Transcript) -> None:
        self.transcript = transcript
        self._client = client

    async def use(self, *calls: Call) -> list[str]:
        """Write calls at once, and read the answers."""
        texts = [_text(await self._client.use(tool, arguments)) for tool, arguments in calls]
        wrote = [dumps({"name": tool, "arguments": arguments}).decode() for tool, arguments in calls]
        self.transcript.turns.append(ModelTurn("\n".join(wrote), "\n".join(texts)))
        return texts

    async def call(self, name: str, *several: Mapping[str, Any]) -> list[str]:
        """Call a tool of a server, once for each of these arguments."""
        self.knows(name)
        self.transcript.calls += len(several)
        return await self.use(*(("call_tool_read", {"name": name, "arguments": each}) for each in several))

    def knows(self, *names: str) -> None:
        """Raise if the model cannot know one of these names."""
        read = "".join(turn.read for turn in self.transcript.turns)
        if unknown := [name for name in names if f'"{name}"' not in read]:
            raise RuntimeError(f"{self.transcript.way}: {unknown} were never read")

    def answer(self, found: Mapping[str, int]) -> None:
        """Write the answer to the task."""
        self.transcript.turns.append(ModelTurn(dumps(found).decode()))


def token_rows(transcripts: Sequence[Transcript]) -> list[Row]:
    """A row for each, compared with the first. Raises NotInstalled."""
    counts = counted([text for each in transcripts for text in each.texts])
    rows, first = list[Row](), 0.0
    for each in transcripts:
        own, counts = counts[: len(each.texts)], counts[len(each.texts) :]
        figures = token_figures(each, own)
        first = first or figures["context"]
        rows.append(Row({"way": each.way}, {**figures, "to_first": figures["context"] / first}))
    return rows


def token_figures(transcript: Transcript, tokens: Sequence[int]) -> dict[str, float]:
    """`tokens`: of each of the transcript's texts."""
    given, wrote, read = sum(tokens[:2]), tokens[2::2], tokens[3::2]
    sent, so_far = 0, given
    for one, other in zip(wrote, read, strict=True):
        sent += so_far
        so_far += one + other
    return {
        "turns": len(transcript.turns),
        "calls": transcript.calls,
        "definitions": tokens[0],
        "wrote": sum(wrote),
        "read": sum(read),
        "context": so_far,
        "context_bytes": sum(len(text.encode()) for text in transcript.texts),
        "sent_in_all_turns": sent,
    }


def _text(result: Mapping[str, Any]) -> str:
    """What models are shown of an answer: the texts of its content. Raises RuntimeError for an error."""
    text = "\n".join(item["text"] for item in result["content"] if item["type"] == "text")
    if result.get("isError"):
        raise RuntimeError(f"a call was not answered: {text}")
    return text
