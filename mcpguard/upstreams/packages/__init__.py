"""Servers that come as packages (`npx`, `uvx`): installed once, and always run from that installation.

`package_commands.recognise_package` tells which package a command runs, `installation.install_package` installs it,
`trees.approved_tree` and `trees.verify_tree` find and check the approved tree, and `tree_launch.from_tree` builds its
launch.
"""
