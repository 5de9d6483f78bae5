"""The contract of the `proxy` tool: one tool through which everything else is listed, described and called.

What is asked (`operations`), how it is answered (`envelope`), and what an answer says of itself (`annotations`). Both
sides use it: whoever offers the tool, and whoever calls it.
"""
