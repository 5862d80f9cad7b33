"""Exceptions with the messages of the library. Each is also the corresponding Python exception."""

__all__ = ["Error", "FileError", "InputError", "InternalError", "LimitError", "ResourceError"]


class Error(Exception):
    """Base class of the exceptions of this package."""


class InputError(Error, ValueError):
    """An invalid board, position, move or option."""


class FileError(Error, OSError):
    """A file or directory is missing, damaged, of another version, or not writable.

    The message names the file or directory; ``errno`` is not set.
    """


class ResourceError(Error, MemoryError):
    """Memory, disk space or threads do not suffice for the request."""


class LimitError(Error):
    """A limit was reached before a function had found the number that it returns.

    ``reason`` is ``"node limit"``, ``"time limit"`` or ``"memory"``, as in a ``Solution``.
    """

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text, reason)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class InternalError(Error, RuntimeError):
    """An error in this package. Please report it with its message."""


# Tracebacks and pickles use the public names.
for _error in (Error, FileError, InputError, InternalError, LimitError, ResourceError):
    _error.__module__ = "konane"
del _error
