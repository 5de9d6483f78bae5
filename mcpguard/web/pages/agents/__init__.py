"""Pages about agents and held calls."""
