"""Calls: requests, verdicts, outcomes, and the facts recorded about them."""
