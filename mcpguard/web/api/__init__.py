"""The operator's REST API, one router for each subject."""
