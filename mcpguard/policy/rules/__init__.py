"""The rules about calls, one a file. `policy.judge` runs them in its order.

A rule checks a situation: `objection` returns why the call must not be made now, or None.
"""
