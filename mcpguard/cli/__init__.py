"""Commands. Thin: parse, call, print. Data on standard output, everything else on standard error.

Exit codes: 0 ok, 1 error, 2 usage.
"""
