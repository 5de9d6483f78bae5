"""The doors for people and machines: pages, health, the operator's socket."""
