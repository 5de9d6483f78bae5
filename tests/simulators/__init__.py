"""The neighbours of a guard, played: a server whose definitions and answers a test changes at will, and a client.

They speak raw JSON and know no MCP library, so that nothing a library would forbid is beyond them.
"""
