"""The policy: pure functions from a situation to a verdict, without clock, store or waiting."""
