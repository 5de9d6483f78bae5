"""The checks before every page and route: authentication, authorization, and the refusal of invalid requests."""
