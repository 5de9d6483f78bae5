"""Detection and masking of secrets, with the rules of gitleaks as data.

`gitleaks.json` was made by `python -m tests.gitleaks` from `config/gitleaks.toml` of gitleaks 8.30 (commit b58d3f10),
copyright (c) 2019 Zachary Rice, under the MIT licence, which lies beside it. The last rule is our own.
"""
