"""Calls: requests, verdicts, outcomes, and what is recorded of them."""
