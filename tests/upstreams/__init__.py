"""Upstreams: real child processes, doing what a hostile or a broken server would."""
