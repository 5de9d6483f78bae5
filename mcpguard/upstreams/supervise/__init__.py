"""The connections to servers are kept: begun, watched, succeeded and ended."""
