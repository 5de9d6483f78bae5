"""The audit log as events of the Open Cybersecurity Schema Framework, version 1.8. docs/ocsf.md has the mapping."""
