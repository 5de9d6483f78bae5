"""The settings: grouped, frozen, documented per field. `model` has the types; only the app and the CLI load them."""
