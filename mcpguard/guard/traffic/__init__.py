"""The outcomes of calls: counted, and reported to listeners as they happen."""
