"""Exchanges messages with one server: matches responses to requests and delivers them to their callers."""
