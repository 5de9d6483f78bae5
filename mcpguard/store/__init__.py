"""The store, the only package with SQL.

One thread owns the single writing connection; readers cannot write; rows never leave this package.
"""
