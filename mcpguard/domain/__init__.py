"""The words: frozen values and tables that every other layer speaks in. Imports nothing of ours."""
