"""The protocol's messages. Fields are in the order in which they are encoded; see docs/protocol.md in Parley's
repository."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from .limits import ID_LENGTH, TOOL_NAME


def _whole(value: object) -> object:
    """Converts whole floats to integers, because some peers can only write floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _one_of(*known: str | int, otherwise: str | int) -> BeforeValidator:
    return BeforeValidator(lambda value: value if value in known and not isinstance(value, bool) else otherwise)


def _absent_if_empty(value: object) -> object:
    return None if value == "" else value


Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH)]
OptionalId = Annotated[Id | None, BeforeValidator(_absent_if_empty)]
Integer = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Integer, Field(ge=0)]
Json = dict[str, Any]


class Body(BaseModel):
    """The body of one message. `None` is an absent field."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, strict=True)

    type_number: ClassVar[int]
    type_name: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _nil_is_absent(cls, body: object) -> object:
        return {key: value for key, value in body.items() if value is not None} if isinstance(body, dict) else body


class ErrorMessage(Body):
    type_number, type_name = 1, "error_message"

    id: OptionalId = None
    code: Integer
    message: str
    severity: Annotated[int, _one_of(0, 1, 2, 3, otherwise=2)] = 2
    recoverable: Annotated[bool, BeforeValidator(lambda value: value is not False)] = True
    originating_id: OptionalId = None
    retry_after_ms: Count | None = None


class UserMessage(Body):
    type_number, type_name = 2, "user_message"

    id: Id
    previous_id: OptionalId = None
    content: str
    attachments: list[Json] | None = None


class AssistantMessage(Body):
    """A complete answer. Sent to a client that was away for too long to receive the sentences."""

    type_number, type_name = 3, "assistant_message"

    id: Id
    previous_id: OptionalId = None
    content: str


class AudioChunk(Body):
    type_number, type_name = 4, "audio_chunk"


class ReasoningStep(Body):
    """A step of the model's reasoning. Sent only to clients that list the feature `reasoning_steps`."""

    type_number, type_name = 5, "reasoning_step"

    id: Id
    message_id: Id
    sequence: Count
    content: str


Execution = Literal["server", "client", "either"]


class ToolUseRequest(Body):
    type_number, type_name = 6, "tool_use_request"

    id: Id
    message_id: Id
    tool_name: Annotated[str, Field(pattern=f"^{TOOL_NAME.pattern}$")]
    parameters: Json
    execution: Execution
    timeout_ms: Count | None = None
    participant: str | None = None


class ToolUseResult(Body):
    """`id` is the request's id. On the wire, the message also contains it as `requestId`."""

    type_number, type_name = 7, "tool_use_result"

    id: Id
    success: bool
    result: Json | None = None
    content: list[Json] | None = None
    display: Json | None = None
    error_code: str | None = None
    error_message: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _normalized(cls, body: object) -> object:
        if not isinstance(body, dict):
            return body
        fields = {key: value for key, value in body.items() if key != "requestId"}
        if body.get("requestId") is not None:
            fields["id"] = body["requestId"]
        result = body.get("result")
        if result is None and body.get("success") is True:
            fields["result"] = {}
        elif result is not None and not isinstance(result, dict):
            fields["result"] = {"value": result}
        return fields


class Acknowledgement(Body):
    type_number, type_name = 8, "acknowledgement"

    acknowledged_stanza_id: Integer
    success: bool


class Transcription(Body):
    """A participant's speech, or another participant's text. The final transcription is the user message."""

    type_number, type_name = 9, "transcription"

    id: Id
    previous_id: OptionalId = None
    text: str
    final: bool
    language: str | None = None
    confidence: float | None = None
    participant: str | None = None


class ControlStop(Body):
    type_number, type_name = 10, "control_stop"

    target_id: OptionalId = None
    reason: str | None = None
    stop_type: Literal["generation", "speech", "all"] | None = None


class ControlVariation(Body):
    type_number, type_name = 11, "control_variation"

    target_id: Id
    mode: Literal["regenerate", "edit", "continue"]
    new_content: str | None = None


class Configuration(Body):
    type_number, type_name = 12, "configuration"

    last_sequence_seen: Integer | None = None
    client_version: str | None = None
    preferred_language: str | None = None
    device: Any = None
    listens: bool | None = None
    speaks: bool | None = None
    turns: str | None = None
    agent: Json | None = None
    features: list[str] | None = None
    tools: list[Json] | None = None


class StartAnswer(Body):
    """The start of an answer. `previous_id` is the id of the message that is answered."""

    type_number, type_name = 13, "start_answer"

    id: Id
    previous_id: Id
    answer_type: Literal["text", "voice", "text+voice"] | None = None
    replaces_id: OptionalId = None


class MemoryTrace(Body):
    type_number, type_name = 14, "memory_trace"

    id: Id
    message_id: OptionalId = None
    content: str | None = None
    relevance: float | None = None


class Commentary(Body):
    type_number, type_name = 15, "commentary"

    id: Id
    message_id: Id
    content: str
    commentary_type: str | None = None


class AssistantSentence(Body):
    """One piece of an answer. `previous_id` is the answer's id."""

    type_number, type_name = 16, "assistant_sentence"

    id: OptionalId = None
    previous_id: Id
    sequence: Count
    text: str
    is_final: bool


class ToolCallState(Body):
    """The complete state of a call, no matter where the call runs. Sent only to clients that list the feature
    `tool_call_state`."""

    type_number, type_name = 100, "tool_call_state"

    id: Id
    name: str
    status: Literal["pending", "running", "success", "error", "cancelled"]
    call_id: str | None = None
    input_json: str = ""
    output: str | None = None
    error: str | None = None
    logs: list[str] = []
    metadata_json: str = ""
    started_at: Integer | None = None
    finished_at: Integer | None = None


class PermissionRequest(Body):
    """A call is waiting for this participant's permission. Sent only to clients that list the feature `permissions`."""

    type_number, type_name = 101, "permission_request"

    id: Id
    type: str
    pattern: list[str] = []
    session_id: str
    message_id: str
    call_id: str | None = None
    title: str
    metadata_json: str = ""
    created_at: Integer


PermissionWord = Literal["approve", "reject", "once", "always"]
PermissionState = Literal["approved", "rejected", "expired", "withdrawn"]


class PermissionResponse(Body):
    type_number, type_name = 102, "permission_response"

    session_id: str | None = None
    permission_id: Id
    response: PermissionWord
    message: str | None = None
    edited_input_json: str | None = None
    state: PermissionState | None = None


class ToolUseCancel(Body):
    type_number, type_name = 103, "tool_use_cancel"

    id: Id
    reason: Annotated[str, _one_of("timeout", "interrupted", "superseded", "closed", otherwise="closed")] = "closed"


class ToolUseProgress(Body):
    type_number, type_name = 104, "tool_use_progress"

    id: Id
    log: str | None = None
    progress: float | None = None


class BlockEvent(Body):
    """A stored part of an answer. Sent only to clients that list the feature `blocks`."""

    type_number, type_name = 105, "block_event"

    event: Literal["block_start", "block_delta", "block_stop", "turn_complete", "turn_spoken"]
    turn_id: Id
    sequence: Count | None = None
    type: str | None = None
    block_type: str | None = None
    tool_use_id: OptionalId = None
    tool_name: str | None = None
    text: str | None = None
    result: str | None = None
    delta: Json | None = None
    text_content: str | None = None
    content: Json | None = None
    state: Literal["completed", "interrupted", "failed", "cancelled"] | None = None
    stop_reason: str | None = None
    heard: str | None = None
    timings: Json | None = None


MESSAGES: dict[int, type[Body]] = {body.type_number: body for body in Body.__subclasses__()}
