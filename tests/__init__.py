"""Stories, attacks, properties, and a mirror of the package."""
