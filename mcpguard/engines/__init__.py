"""Engines that run programs of agents, each in a sandboxed process of its own."""
