"""How well replies are screened, and what that costs: `python -m tests.benchmarks.replies`.

Of each half: recall, false positives, what would be withheld, and what was missed or noted by kind. Then the time for a
glance at an ordinary reply of 1 KB, and for reading one that has to be read.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable

from mcpguard.domain.screening import Screening
from mcpguard.inspection.replies.plain_replies import is_plain
from mcpguard.inspection.replies.screening import ScreenedReply, screen_reply
from mcpguard.policy.secrets.known_secrets import KnownSecrets
from tests.benchmarks.replies_told import AROUND, Case, cases

NOTHING = KnownSecrets(())
ROUNDS = 300
PLAIN = "The meeting is on Friday at ten. Bring the figures of the last quarter, and the plan for the next one. " * 10


def screened(case: Case) -> ScreenedReply:
    reply = {"content": [{"type": "text", "text": case.text}]}
    if is_plain(reply, NOTHING, AROUND):
        return ScreenedReply(reply)
    return screen_reply(reply, Screening.NOTE, NOTHING, AROUND, lambda: True)


def told(every: Iterable[Case]) -> str:
    of = {each: screened(each) for each in every}
    hostile, ordinary = [each for each in of if each.hostile], [each for each in of if not each.hostile]
    found, wrong = [each for each in hostile if of[each].found], [each for each in ordinary if of[each].found]
    missed = Counter(each.kind for each in hostile if not of[each].found)
    hard = sum(of[each].hard for each in hostile), sum(of[each].hard for each in ordinary)
    return (
        f"recall {len(found)}/{len(hostile)} = {100 * len(found) / len(hostile):.1f} %, "
        f"false positives {len(wrong)}/{len(ordinary)} = {100 * len(wrong) / len(ordinary):.1f} %, "
        f"withheld by `refuse` {hard[0]} and {hard[1]}\n"
        f"    missed: {dict(missed)}\n    noted: {dict(Counter(each.kind for each in wrong))}"
    )


def taken(work: Callable[[], object]) -> float:
    """Microseconds, the median."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return sorted(times)[ROUNDS // 2] * 1e6


def main() -> None:
    every = [*cases()]
    sys.stdout.write(f"seen half: {told(each for each in every if not each.unseen)}\n")
    sys.stdout.write(f"unseen half: {told(each for each in every if each.unseen)}\n")
    plain = {"content": [{"type": "text", "text": PLAIN[:1000]}]}
    rest = next(each for each in every if each.hostile)
    read = {"content": [{"type": "text", "text": (rest.text + " " + PLAIN)[:1000]}]}
    sys.stdout.write(f"a glance at 1 KB: {taken(lambda: is_plain(plain, NOTHING, AROUND)):.0f} µs\n")
    whole = taken(lambda: screen_reply(read, Screening.NOTE, NOTHING, AROUND, lambda: True))
    sys.stdout.write(f"reading 1 KB: {whole:.0f} µs\n")


if __name__ == "__main__":
    main()
