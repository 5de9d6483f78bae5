"""The rules about calls, one per file, in the order in which `policy.judge` runs them.

A rule checks a situation: `objection` returns why the call must not be made now, or None.
"""
