"""Proving the ledger whole, offline, from its bytes alone. docs/ledger-format.md is the specification."""
