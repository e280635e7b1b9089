"""The events of `Parley.on`, in addition to the worker's messages themselves (messages.py)."""

from dataclasses import dataclass
from typing import Literal

from .errors import ParleyError
from .messages import Json, PermissionState

Runner = Literal["client", "server"]
"""Who runs a call. `client` means this client: calls that other participants run are not reported here."""


@dataclass(frozen=True)
class Connected:
    """A worker has acknowledged this client's Configuration, including its tools. Repeated after each reconnect."""

    agents: list[str]


@dataclass(frozen=True)
class Disconnected:
    """The last agent has left (`agent`), or this client has left the room (`room`). Tools stay registered, and calls
    continue."""

    reason: Literal["room", "agent"]


@dataclass(frozen=True)
class ToolCall:
    """A call that this client or the server runs."""

    id: str
    message_id: str
    """The id of the answer that the call belongs to."""
    tool_name: str
    parameters: Json
    ran_by: Runner
    participant: str | None
    """The participant whose turn it is; None for this client's own turn."""


@dataclass(frozen=True)
class ToolResult:
    id: str
    tool_name: str | None
    success: bool
    result: Json | None
    error_code: str | None
    error_message: str | None
    ran_by: Runner
    display: Json | None = None
    """What the tool shows to people. The model does not see it."""


@dataclass(frozen=True)
class AnswerEnd:
    """An answer is complete."""

    id: str
    previous_id: str
    """The id of the message that was answered."""
    text: str
    sentences: list[str]


@dataclass(frozen=True)
class PermissionClosed:
    """A PermissionRequest is closed: it was answered, here or elsewhere, has expired or was withdrawn."""

    id: str
    state: PermissionState


@dataclass(frozen=True)
class ErrorEvent:
    """The worker could not handle a message, or something failed in this client."""

    error: ParleyError
    originating_id: str | None = None
    """The id of the message that the error is about."""


EVENTS = (Connected, Disconnected, ToolCall, ToolResult, AnswerEnd, PermissionClosed, ErrorEvent)
