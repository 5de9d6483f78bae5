"""`mcpguard stdio`: carries messages between an agent's streams and the running guard. It imports no framework, so that
it starts at once.
"""
