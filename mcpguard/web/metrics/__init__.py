"""What the guard measures, as Prometheus reads it."""
