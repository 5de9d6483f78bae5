"""The audit log as OCSF 1.8 events (Open Cybersecurity Schema Framework).

docs/ocsf.md has the mapping.
"""
