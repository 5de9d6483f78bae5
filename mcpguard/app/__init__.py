"""The composition root: settings → store → ledger → guard → doors, in one lifespan and one task group."""
