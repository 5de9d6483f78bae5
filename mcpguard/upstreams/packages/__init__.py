"""Servers that come as packages (`npx`, `uvx`): installed once, and run from that installation ever after.

`recognising.recognised` tells which package a command runs, `installing.installed` installs it, `trees.kept` and
`trees.verified` find the tree that was approved, and `launching.from_tree` says how it is run.
"""
