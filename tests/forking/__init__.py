"""Starting the program as often as tests do, without importing it anew each time.

What is started is what `python -m mcpguard` is: a process of its own, with its own arguments, environment, folder and
streams, that runs `mcpguard.__main__`. But it is forked from one that has imported everything already (`__main__.py`),
as importing takes ten times as long as what most commands do.
"""
