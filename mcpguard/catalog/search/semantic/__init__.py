"""Ranks the candidates of a search by their meaning as well: the optional extra `semantic`."""
