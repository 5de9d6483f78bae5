"""The sandbox for servers and installers: host files that are not listed here do not exist for them.

`probe.probe_sandbox` checks at startup whether this host has a working sandbox, `confined_launch.confine_launch` turns
a launch into a confined one, and `memory_watch.watch_memory` watches the process while it runs.
"""
