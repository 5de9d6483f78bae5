"""How servers are added, inspected, reviewed and decided about."""
