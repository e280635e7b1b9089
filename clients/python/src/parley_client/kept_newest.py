"""Limits the size of dictionaries."""

from typing import Any


def keep_newest(entries: dict[Any, Any], most: int) -> None:
    """Removes the oldest entries until at most `most` are left."""
    while len(entries) > most:
        del entries[next(iter(entries))]
