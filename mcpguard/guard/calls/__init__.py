"""Handles one call: judges, records and sends it, screens the reply, and answers the client."""
