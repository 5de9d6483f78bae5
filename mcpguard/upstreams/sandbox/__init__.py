"""The sandbox for processes: whatever is not listed here does not exist for them.

`probe.probe_sandbox` finds out at the start whether this host has a working sandbox, `confined_launch.confine_launch`
turns a launch into a confined one, and `memory_watch.watch_memory` watches it while it runs.
"""
