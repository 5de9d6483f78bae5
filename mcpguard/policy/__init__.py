"""The policy: pure functions from a situation to a verdict, without a clock, a store, or waiting."""
