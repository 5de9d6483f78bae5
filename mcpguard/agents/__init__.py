"""The programs that agents run in: where each keeps its servers, in which words, and how it reaches the guard."""
