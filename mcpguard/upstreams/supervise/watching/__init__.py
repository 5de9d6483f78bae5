"""Watches a server's resources for clients: which ones they subscribed to, and the subscriptions at the server."""
