"""What goes wrong: the library's text, in exceptions that are Python's own ones too."""

__all__ = ["Error", "FileError", "InputError", "InternalError", "LimitError", "ResourceError"]


class Error(Exception):
    """Everything that this package raises by itself."""


class InputError(Error, ValueError):
    """A board, position, move or option that is none. Nothing has been computed."""


class FileError(Error, OSError):
    """A file or directory is missing, damaged or of another version, or cannot be written.

    The text names it; ``errno`` is not set.
    """


class ResourceError(Error, MemoryError):
    """Memory, disk space or threads do not suffice for the request."""


class LimitError(Error):
    """A limit was reached before there was a number to return.

    ``reason`` is ``"node limit"``, ``"time limit"`` or ``"memory"``, as that of a ``Solution``.
    """

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text, reason)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class InternalError(Error, RuntimeError):
    """A mistake in this package. Please report it, with the text."""


# Tracebacks and pickles name them as users do.
for _error in (Error, FileError, InputError, InternalError, LimitError, ResourceError):
    _error.__module__ = "konane"
del _error
