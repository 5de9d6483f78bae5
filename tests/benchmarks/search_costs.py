"""What searching costs: processor time of one thread, with few, many and very many tools."""

import gc
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, Final

from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.prepared_tools import K1, PreparedServer, prepare_server
from mcpguard.catalog.search.query import read_query
from mcpguard.catalog.search.search import View
from tests.benchmarks.kernel import Kernel
from tests.benchmarks.report import Row, Sheet, quantile

SIZES: Final = (500, 5_000, 50_000)
_TOOLS_OF_A_SERVER: Final = 20
_QUERIES: Final = 300
_QUERIES_OF_KERNEL: Final = 20
Tool = Mapping[str, Any]


def sheets(tools: Sequence[Tool], queries: Sequence[str]) -> Iterator[Sheet]:
    asked = random.Random(1).sample(queries, min(_QUERIES, len(queries)))  # noqa: S311 - the same ones in every run
    rows = [_row(size, tools, asked) for size in SIZES]
    yield Sheet("costs", "ms of processor time; queries and tools are those above, the tools as often as needed", rows)


def _row(size: int, tools: Sequence[Tool], asked: Sequence[str]) -> Row:
    index = Index()
    made = [prepare_server(server, some) for server, some in _servers(size, tools)]
    start = time.thread_time()
    for one in made:
        index.set_server(one)
    figures = {"all_servers": (time.thread_time() - start) * 1000}
    gc.collect()
    everything, half = View(index, None), View(index, lambda server, _: server[-1] in "02468")
    figures["view_of_half"] = _ms(lambda: half.search("file", 1))
    for name, view in (("search", everything), ("search_of_half", half)):
        times = [_ms(lambda view=view, query=query: view.search(query, 15)) for query in asked]  # type: ignore[misc]
        figures |= {f"{name}_p50": quantile(times, 0.5), f"{name}_p99": quantile(times, 0.99)}
    figures |= _changes(index, tools)
    figures["kernel_p50"] = _kernel(index, everything, asked[:_QUERIES_OF_KERNEL])
    return Row({"tools": size}, figures)


def _servers(size: int, tools: Sequence[Tool]) -> Iterator[tuple[str, list[Tool]]]:
    """As many tools as wanted, twenty on a server."""
    endless: Iterator[Tool] = (
        {**tool, "name": f"{tool['name']}_{again}" if again else tool["name"]} for again in count() for tool in tools
    )
    of_all = islice(endless, size)
    for number in count():
        if not (some := list(islice(of_all, _TOOLS_OF_A_SERVER))):
            return
        yield f"{some[0]['server']}-{number}", some


def _changes(index: Index, tools: Sequence[Tool]) -> dict[str, float]:
    """One server of twenty tools comes, changes every one of them, and goes."""
    some = tools[:_TOOLS_OF_A_SERVER]
    before = prepare_server("another", some)
    after = prepare_server("another", [{**tool, "description": f"Nowadays {tool.get('description')}"} for tool in some])

    def put(one: PreparedServer) -> float:
        return _ms(lambda: index.set_server(one))

    made = [(put(before), put(after), _ms(lambda: index.remove_server("another"))) for _ in range(20)]
    prepare = quantile([_ms(lambda: prepare_server("another", some)) for _ in range(20)], 0.5)
    put_in, change, remove = (quantile(times, 0.5) for times in zip(*made, strict=True))
    return {"prepare": prepare, "put_in": put_in, "change": change, "remove": remove}


def _kernel(index: Index, view: View, asked: Sequence[str]) -> float:
    """The same candidates scored by rank-bm25 instead."""
    numbers = {number: at for at, number in enumerate(index.documents)}
    kernel = Kernel(
        [
            {term: weight * K1 / (K1 + 1 - weight) for term, weight in document.weights.items()}
            for document in index.documents.values()
        ]
    )
    terms = {id(index.weights(term)): term for term in kernel.idf}

    def search(query: str) -> None:
        found = [term for one in read_query(query, view) for term in one.terms]
        candidates = {numbers[number] for term in found for number in term.weights}
        if candidates:
            kernel.get_batch_scores([terms[id(term.weights)] for term in found], sorted(candidates))

    return quantile([_ms(lambda query=query: search(query)) for query in asked], 0.5)  # type: ignore[misc]


def _ms(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return (time.thread_time() - start) * 1000
