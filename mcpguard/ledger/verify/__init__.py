"""Verifies the integrity of the ledger, offline, from its bytes alone.

docs/ledger-format.md is the specification.
"""
