"""Judgement: pure functions from a situation to a verdict. No clock, no store, no waiting."""
