"""The HTTP entry points for people and programs: pages, the API, health checks, and the operator's socket."""
