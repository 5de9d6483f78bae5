"""Laws that hold whatever the values are."""
