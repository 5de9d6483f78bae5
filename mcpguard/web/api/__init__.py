"""The REST API for programs, one router for each subject."""
