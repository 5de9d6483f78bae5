"""Processes that see little of the machine: what is not named here is not there for them.

`probe.probed` tells at start whether that works here, `confining.confined` turns a launch into a confined one, and
`watching.within_memory` watches it while it runs.
"""
