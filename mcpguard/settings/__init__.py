"""Settings: grouped, frozen, documented by field. `model` has the types; only the app and the CLI load them."""
