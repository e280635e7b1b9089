"""Dispatches the worker's messages."""

from .emitter import Emitter
from .errors import to_error
from .events import ErrorEvent, ToolResult
from .evict_oldest import evict_oldest
from .messages import (
    Acknowledgement,
    AssistantMessage,
    AssistantSentence,
    ErrorMessage,
    PermissionRequest,
    PermissionResponse,
    StartAnswer,
    ToolUseCancel,
    ToolUseRequest,
    ToolUseResult,
)
from .permissions import Permissions
from .tools.tool_requests import ToolRequests
from .wire.answers import Answers
from .wire.codec import Envelope
from .wire.outbox import Outbox

REMEMBERED_NAMES = 256


class WorkerMessages:
    """Handles each message, and then emits it as an event of its class."""

    def __init__(self, outbox: Outbox, requests: ToolRequests, permissions: Permissions, events: Emitter) -> None:
        self._outbox = outbox
        self._requests = requests
        self._permissions = permissions
        self._events = events
        self._answers = Answers(events.emit)
        self._tool_names: dict[str, str] = {}  # by call id, because a result does not contain its tool's name

    @property
    def is_answering(self) -> bool:
        return self._answers.is_open

    def handle(self, envelope: Envelope) -> None:
        body = envelope.body
        match body:
            case Acknowledgement():
                self._outbox.acknowledge(body.acknowledged_stanza_id, body.success)
            case ToolUseRequest():
                self._tool_names[body.id] = body.tool_name
                evict_oldest(self._tool_names, REMEMBERED_NAMES)
                self._requests.handle(body, envelope)
            case ToolUseCancel():
                self._requests.cancel(body)
            case StartAnswer():
                self._answers.begin(body)
            case PermissionRequest():
                self._permissions.ask(body)
            case PermissionResponse():
                self._permissions.end(body)
            case ErrorMessage(retry_after_ms=int(milliseconds)):
                self._outbox.send_again_after(milliseconds / 1000)
            case ErrorMessage():
                self._tell_error(body)
            case ToolUseResult():
                self._events.emit(self._to_result(body))
        if body is not None:
            self._events.emit(body)
        # An answer is completed after its last sentence was emitted, so that the events arrive in this order.
        if isinstance(body, AssistantSentence):
            self._answers.add(body)
        elif isinstance(body, AssistantMessage):
            self._answers.take_whole(body)

    def _tell_error(self, body: ErrorMessage) -> None:
        error = to_error(body.code, body.message)
        if body.originating_id:
            self._outbox.refuse(body.originating_id, error)
        self._events.emit(ErrorEvent(error, body.originating_id))

    def _to_result(self, body: ToolUseResult) -> ToolResult:
        return ToolResult(
            id=body.id,
            tool_name=self._tool_names.get(body.id),
            success=body.success,
            result=body.result,
            error_code=body.error_code,
            error_message=body.error_message,
            ran_by="server",
            display=body.display,
        )
