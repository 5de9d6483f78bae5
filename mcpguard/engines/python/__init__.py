"""What a sandbox shows of the engine for Python: the worker, and nothing else of the guard."""
