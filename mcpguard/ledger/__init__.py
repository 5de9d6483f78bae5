"""The audit log: nothing is done that is not recorded first, and the record can be proven whole."""
