"""The rules about a call, one a file. `policy.judge` asks them, in an order that stands there.

A rule is a question to a situation: `objection` says why the call must not be made, or None.
"""
