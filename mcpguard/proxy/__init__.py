"""The contract of the `proxy` tool: one tool through which everything else is listed, described and called.

`operations` is what can be asked, `envelope` how it is answered, and `annotations` what an answer says of itself. Both
sides use it: whoever offers the tool, and whoever calls it.
"""
