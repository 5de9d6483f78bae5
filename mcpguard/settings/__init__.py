"""Settings: grouped, frozen, documented per field. `model` holds the types; only the app and the CLI load them."""
