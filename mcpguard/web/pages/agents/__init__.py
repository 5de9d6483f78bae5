"""Pages about agents, and about calls that wait."""
