"""Encodes and decodes envelopes, following Parley's docs/protocol.md."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgpack
from pydantic import ValidationError

from .. import limits
from ..errors import Internal, Malformed, TooLarge
from ..messages import MESSAGES, Body, Json, ToolUseRequest, ToolUseResult

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Envelope:
    stanza_id: int
    conversation_id: str
    meta: Json
    body: Body | None
    """The message, or None if its type is unknown. Such a message must be skipped."""


class MalformedMessage(Malformed):
    """An invalid message. Contains the fields that could be read, so that the message can still be answered."""

    def __init__(self, problem: str, stanza_id: int = 0, type_number: int = 0, body: Json | None = None) -> None:
        super().__init__(problem)
        self.stanza_id = stanza_id
        self.is_tool_request = type_number == ToolUseRequest.type_number
        self.body = body or {}


def encode(stanza_id: int, conversation_id: str, body: Body, meta: Json | None = None) -> bytes:
    """Encodes a message. Raises TooLarge, or Internal for a value that cannot be sent."""
    present = {field.alias: getattr(body, name) for name, field in type(body).model_fields.items()}
    fields = {"conversationId": conversation_id, **{key: value for key, value in present.items() if value is not None}}
    if isinstance(body, ToolUseResult):
        fields["requestId"] = body.id
    envelope = {
        "stanzaId": stanza_id,
        "conversationId": conversation_id,
        "type": body.type_number,
        "meta": meta or {},
        "body": fields,
    }
    frame: bytes = msgpack.packb(_Sendable().map(envelope, 1))
    if len(frame) > limits.ENVELOPE_BYTES:
        raise TooLarge(f"The envelope is over {limits.ENVELOPE_BYTES} bytes")
    return frame


def decode(frame: bytes) -> Envelope:
    """Decodes an envelope. Raises only MalformedMessage."""
    root = _unpack(frame)
    stanza_id, type_number = _integer(root.get("stanzaId")), _integer(root.get("type"))
    if stanza_id is None:
        raise MalformedMessage("stanzaId: expected an integer")
    if type_number is None:
        raise MalformedMessage("type: expected an integer", stanza_id)
    if type_number not in MESSAGES:
        return Envelope(stanza_id, "", {}, None)
    body = {} if root.get("body") is None else root["body"]
    if not isinstance(body, dict):
        raise MalformedMessage("body: expected a map", stanza_id, type_number)
    conversation_id = root.get("conversationId") or body.get("conversationId") or ""
    meta = root.get("meta") or {}
    if not isinstance(conversation_id, str) or not isinstance(meta, dict):
        raise MalformedMessage("conversationId or meta: expected a string and a map", stanza_id, type_number, body)
    model = MESSAGES[type_number]
    try:
        return Envelope(stanza_id, conversation_id, meta, model.model_validate(body))
    except ValidationError as error:
        problem = f"{model.type_name}.{describe(error)}"
        raise MalformedMessage(problem, stanza_id, type_number, body) from None


def describe(error: ValidationError) -> str:
    """Returns the first problem: the name of the field, without its value. A problem with `execution` comes first."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    first = next((problem for problem in problems if problem["loc"] == ("execution",)), problems[0])
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def _unpack(frame: bytes) -> Json:
    if len(frame) > limits.ENVELOPE_BYTES:
        raise MalformedMessage(f"The envelope is over {limits.ENVELOPE_BYTES} bytes")
    try:
        root = msgpack.unpackb(
            frame,
            unicode_errors="replace",
            max_str_len=limits.STRING_BYTES,
            ext_hook=_read_extension,
            timestamp=3,
        )
    except Exception as error:  # msgpack's errors have no common base class
        raise MalformedMessage("The packet cannot be decoded") from error
    if not isinstance(root, dict) or not all(isinstance(key, str) for key in root):
        raise MalformedMessage("The packet is not a map")
    return root


def _read_extension(code: int, data: bytes) -> None:
    if code != 0:  # some encoders write absent values as type 0
        raise ValueError("An extension type is neither 0 nor a timestamp")


def _integer(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class _Sendable:
    """Copies values that every peer can read, and rejects all others before anything is sent."""

    def __init__(self) -> None:
        self._values = 0
        self._keys: set[str] = set()

    def value(self, value: Any, depth: int) -> Any:
        self._values += 1
        if self._values > limits.VALUES:
            raise TooLarge(f"The message has over {limits.VALUES} values")
        match value:
            case None | bool() | float():
                return value
            case int():
                return _number(value)
            case str():
                return _text(value)
            case bytes() | bytearray():
                return bytes(value)
            case list() | tuple():
                _check(depth)
                return [self.value(item, depth + 1) for item in value]
            case Mapping():
                return self.map(value, depth)
        raise Internal(f"A {type(value).__name__} cannot be encoded")

    def map(self, value: Mapping[Any, Any], depth: int) -> Json:
        _check(depth)
        return {self._key(key): self.value(item, depth + 1) for key, item in value.items()}

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise Internal("A key is not a string")
        if len(_text(key).encode()) > limits.KEY_BYTES:
            raise TooLarge(f"A key is over {limits.KEY_BYTES} bytes")
        self._keys.add(key)
        if len(self._keys) > limits.DIFFERENT_KEYS:
            raise TooLarge(f"The message has over {limits.DIFFERENT_KEYS} different keys")
        return key


def _check(depth: int) -> None:
    if depth > limits.DEPTH:
        raise TooLarge(f"The message is nested over {limits.DEPTH} deep")


def _number(value: int) -> int | float:
    """Returns the number to send. Integers beyond 32 bits become float64, because one implementation drops messages
    with 64-bit integers."""
    if -(2**31) <= value < 2**32:
        return value
    if abs(value) >= 2**53:
        raise Internal("An integer beyond 2^53 cannot be encoded")
    return float(value)


def _text(value: str) -> str:
    text = value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if len(text) > limits.STRING_BYTES or len(text.encode()) > limits.STRING_BYTES:
        raise TooLarge(f"A string is over {limits.STRING_BYTES} bytes")
    return text
