"""The outcomes of calls: counted, and told to listeners as they happen."""
