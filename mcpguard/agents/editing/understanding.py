"""That a file is not understood."""


class FileNotUnderstood(ValueError):
    """The file cannot be changed without touching more than was asked for. The sentence follows its name."""
