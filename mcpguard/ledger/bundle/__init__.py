"""Bundles: exports with a signed manifest, which can be verified offline.

docs/export.md is the specification.
"""
