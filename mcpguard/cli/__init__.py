"""The commands. Each parses, calls and prints.

Data goes to standard output, everything else to standard error. Exit codes: 0 ok, 1 error, 2 usage.
"""
