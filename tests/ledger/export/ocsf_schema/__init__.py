"""The part of the OCSF schema that our events use, as its own server compiled it. README.md says where it is from."""
