"""Errors for names that do not exist. A misspelled name would otherwise have no effect."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

WORKER_FEATURES = (
    "reasoning_steps",
    "tool_call_state",
    "permissions",
    "tool_use_cancel",
    "tool_use_progress",
    "blocks",
    "claims",
)


def require_known(names: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raises TypeError for the first name that is not in `known`. `what` completes "is not"."""
    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, n=1)
            raise TypeError(f'"{name}" is not {what}.' + "".join(f' Did you mean "{each}"?' for each in nearest))
