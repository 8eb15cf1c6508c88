"""How a call refuses: one sentence, and the errno that the C call of that name sets."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from pymodel.base.errors import InputError

__all__ = ["VerbsError", "refusing"]


class VerbsError(InputError):
    """A refused call. `code` is an errno, for instance ``errno.EBUSY``; nothing of the call took effect."""

    def __init__(self, code: int, where: str, found: str, expected: str) -> None:
        super().__init__(where, found, expected)
        self.code = code

    def __str__(self) -> str:
        return f"{super().__str__()} ({errno.errorcode[self.code]})"


@contextmanager
def refusing(code: int) -> Iterator[None]:
    """Within this block an InputError of a lower room becomes a VerbsError of `code`."""
    try:
        yield
    except VerbsError:
        raise
    except InputError as error:
        raise VerbsError(code, error.where, error.found, error.expected) from None
