"""A soak test: a guard in a process of its own, under mixed load, while its servers are killed again and again.

    python -m tests.soak --minutes 10 --seed 7

`run.py` is the order of things, `acts.py` what clients do, `seat.py` what must hold of every answer, `records.py` what
must hold of the ledger. All choices are drawn from one seed.
"""
