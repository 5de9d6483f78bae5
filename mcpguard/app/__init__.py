"""The composition root: settings → store → ledger → guard → listeners, in one lifespan and one task group."""
