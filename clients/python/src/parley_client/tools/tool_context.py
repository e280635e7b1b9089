"""What a tool receives, and how it reports errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class ToolError(Exception):
    """Raised by a tool to choose the error code that the model sees, and to add a partial result.

    The protocol's own codes include `invalid_parameters` and `execution_error`. Any other text is also allowed.
    """

    def __init__(self, code: str, message: str, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.result = result


@dataclass(frozen=True)
class ToolContext:
    """The context of a running call, passed to the tool as the parameter with this annotation."""

    call_id: str
    participant: str | None
    """The participant whose turn it is; None in this client's own turns."""
    traceparent: str | None
    """The call's span in the worker (W3C Trace Context)."""
    log: Callable[[str], None]
    """Adds a line to the worker's record of the call. Like `progress`, may be called from any thread."""
    progress: Callable[[float], None]
    """Reports how far the call is, from 0 to 1. Does not extend the deadline."""
