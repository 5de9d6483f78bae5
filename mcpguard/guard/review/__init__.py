"""Adds, inspects and reviews servers, and decides about them."""
