"""Pages of numbers about calls: the overview of the guard, and the activity of one server."""
