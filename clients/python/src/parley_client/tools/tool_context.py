"""What a tool is given, and how it fails."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class ToolError(Exception):
    """Raised by a tool to choose the error code that the model is told, and to add a partial result.

    The protocol's own codes are, among others, `invalid_parameters` and `execution_error`; any other text will do.
    """

    def __init__(self, code: str, message: str, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.result = result


@dataclass(frozen=True)
class ToolContext:
    """What a running tool is given besides its input: the parameter with this annotation gets it."""

    call_id: str
    participant: str | None
    """Whose turn it is; None in our own turns."""
    traceparent: str | None
    """The call's span in the worker (W3C Trace Context)."""
    log: Callable[[str], None]
    """Adds a line to the call's record at the worker. May be called in any thread, as `progress` may."""
    progress: Callable[[float], None]
    """Tells how far the call is, from 0 to 1. This moves no deadline."""
