"""The error for a file that cannot be changed safely."""


class FileNotUnderstood(ValueError):
    """The file cannot be changed without touching more than was asked for. The message follows the file's name."""
