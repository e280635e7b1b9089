"""What `Parley.on` tells of, besides the worker's messages themselves (messages.py)."""

from dataclasses import dataclass
from typing import Literal

from .errors import ParleyError
from .messages import Json, PermissionState

Runner = Literal["client", "server"]
"""`client` is this client: calls that other participants run are not told here."""


@dataclass(frozen=True)
class Connected:
    """A worker has acknowledged our Configuration, so it knows us and our tools. Again after each reconnect."""

    agents: list[str]


@dataclass(frozen=True)
class Disconnected:
    """The last agent has left (`agent`), or this client has left the room (`room`). Tools stay, and calls run on."""

    reason: Literal["room", "agent"]


@dataclass(frozen=True)
class ToolCall:
    """A call that this client runs, or that the server runs."""

    id: str
    message_id: str
    """The id of the answer that the call belongs to."""
    tool_name: str
    parameters: Json
    ran_by: Runner
    participant: str | None
    """Whose turn it is; None when it is our own."""


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
    """What the tool shows to people; the model doesn't see it."""


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
    """A PermissionRequest waits no longer: it was answered, here or elsewhere, has expired or was withdrawn."""

    id: str
    state: PermissionState


@dataclass(frozen=True)
class ErrorEvent:
    """The worker could not handle a message, or something failed in this client."""

    error: ParleyError
    originating_id: str | None = None
    """The id of the message that the error is about."""
