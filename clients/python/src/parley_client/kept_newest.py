"""Dictionaries that do not grow without end."""

from typing import Any


def keep_newest(entries: dict[Any, Any], most: int) -> None:
    """Removes the entries that were put in first."""
    while len(entries) > most:
        del entries[next(iter(entries))]
