"""The doors for people and programs: pages, the API, health checks, the operator's socket."""
