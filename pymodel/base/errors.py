"""The one exception that a user's input may cause.

Everything that a person can get wrong (a YAML key, a flag, a table entry, a missing tool) ends in `InputError`; the
command line prints its single sentence and exits with code 2. Any other exception that reaches a user is a bug.
"""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(Exception):
    """Bad input: where it is, what was found there, and what would be right.

    Parameters
    ----------
    where:
        File, key, field, frame or tool that is wrong, for instance ``"scenarios/a.yaml: topology.planes"``.
    found:
        What was found, for instance ``"9"``.
    expected:
        What would be right, for instance ``"a number from 1 to 8"``.
    """

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__(where, found, expected)
        self.where = where
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.where}: found {self.found}, expected {self.expected}"
