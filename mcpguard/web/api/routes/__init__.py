"""The routes of the API, a subject each."""
