"""Processes of servers: what they are given, what they write, and how they end."""
