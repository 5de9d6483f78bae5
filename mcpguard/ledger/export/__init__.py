"""Exports of the audit log in formats that other programs read; `formats` lists them, one small module each."""
