"""The wire format, compared with the vectors and JSON Schemas that are also used to test the worker and its SDK."""

import json
from pathlib import Path
from typing import Any

import msgpack
import pytest
from jsonschema import Draft202012Validator
from parley_client.client import conversation_id_of
from parley_client.errors import BY_NUMBER, Internal, TooLarge
from parley_client.messages import (
    MESSAGES,
    BlockEvent,
    Body,
    ErrorMessage,
    PermissionRequest,
    PermissionResponse,
    ToolCallState,
    ToolUseCancel,
    ToolUseRequest,
    ToolUseResult,
    UserMessage,
)
from parley_client.wire.codec import MalformedMessage, decode, encode

REPOSITORY = Path(__file__).parents[3]
VECTORS = sorted((REPOSITORY / "test/fixtures/wire").glob("*.json"))
WITH_FLOAT32 = {"transcription", "memory_trace"}
"""Messages with 32-bit floats, which only the worker sends."""


def vector(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text())
    return read


def test_there_is_a_class_for_each_vector() -> None:
    assert {path.stem for path in VECTORS} == {body.type_name for body in MESSAGES.values()}


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_the_bytes_of_a_vector_are_read_as_what_it_says(path: Path) -> None:
    expected = vector(path)
    envelope = decode(bytes.fromhex(expected["hex"]))
    assert isinstance(envelope.body, Body)
    assert envelope.body.type_name == expected["type"]
    assert envelope.stanza_id == expected["stanzaId"]
    assert envelope.conversation_id == expected["conversationId"]
    assert envelope.meta == expected["meta"]
    read = envelope.body.model_dump(by_alias=True, exclude_none=True)
    assert {**read, **expected["body"]} == read
    assert encode(envelope.stanza_id, "ac_4f2", envelope.body, envelope.meta)


@pytest.mark.parametrize(
    "path", [path for path in VECTORS if path.stem not in WITH_FLOAT32], ids=lambda path: path.stem
)
def test_what_a_vector_says_is_written_as_its_bytes(path: Path) -> None:
    expected = vector(path)
    body = next(body for body in MESSAGES.values() if body.type_name == expected["type"])
    frame = encode(
        expected["stanzaId"], expected["conversationId"], body.model_validate(expected["body"]), expected["meta"]
    )
    assert frame.hex() == expected["hex"]


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        (PermissionRequest, "permissionRequest"),
        (PermissionResponse, "permissionResponse"),
        (ToolCallState, "toolCallState"),
    ],
)
def test_messages_of_the_proto_have_the_fields_of_their_schema(body: type[Body], schema: str) -> None:
    properties = json.loads((REPOSITORY / f"schemas/{schema}.schema.json").read_text())["properties"]
    assert [field.alias for field in body.model_fields.values()] == list(properties)


def test_a_permission_response_fits_its_schema() -> None:
    schema = json.loads((REPOSITORY / "schemas/permissionResponse.schema.json").read_text())
    body = PermissionResponse(permission_id="p", response="approve", edited_input_json="{}")
    sent = msgpack.unpackb(encode(1, "c", body))["body"]
    del sent["conversationId"]
    Draft202012Validator(schema).validate(sent)


def test_errors_have_the_names_and_numbers_of_the_page_on_errors() -> None:
    page = (REPOSITORY / "docs/errors.md").read_text()
    rows = [line.split(" | ")[:2] for line in page.splitlines() if line.startswith("| ") and line[2:5].isdigit()]
    assert {int(number.strip("| ")): name.strip("`") for number, name in rows} == {
        number: error.code for number, error in BY_NUMBER.items()
    }


def raw(body: Any, type_number: Any = 6, stanza_id: Any = -1) -> bytes:
    frame: bytes = msgpack.packb({"type": type_number, "body": body, "stanzaId": stanza_id})
    return frame


def test_what_the_page_says_about_reading_holds() -> None:
    body = {"messageId": "m", "id": "r", "timeoutMs": 5.0, "participant": None, "execution": "client", "more": 1}
    envelope = decode(raw(body | {"toolName": "t", "parameters": {}, "conversationId": "c"}, 6.0, -3.0))
    assert envelope.stanza_id == -3
    assert envelope.conversation_id == "c"
    assert envelope.body == ToolUseRequest(
        id="r", message_id="m", tool_name="t", parameters={}, execution="client", timeout_ms=5
    )


def test_extension_0_is_an_absent_field() -> None:
    envelope = decode(raw({"id": "r", "reason": msgpack.ExtType(0, b"\0")}, 103))
    assert envelope.body == ToolUseCancel(id="r", reason="closed")


def test_bytes_that_are_not_utf_8_become_a_mark() -> None:
    envelope = decode(raw({"id": "m", "content": "?"}, 3).replace(b"\xa1?", b"\xa1\xff"))
    assert envelope.body is not None
    assert envelope.body.model_dump()["content"] == "\ufffd"


def test_an_error_message_of_an_older_peer_is_read() -> None:
    envelope = decode(raw({"code": 102, "message": "m", "severity": 9, "recoverable": 1, "originatingId": ""}, 1))
    assert envelope.body == ErrorMessage(code=102, message="m", severity=2, recoverable=True)


def test_a_result_that_is_no_map_is_wrapped_and_named_by_either_key() -> None:
    envelope = decode(raw({"id": "wrong", "requestId": "r", "success": True, "result": [1]}, 7))
    assert envelope.body == ToolUseResult(id="r", success=True, result={"value": [1]})


def test_blocks_and_what_people_are_shown_are_read_and_written_with_their_bytes() -> None:
    result = ToolUseResult(id="r", success=True, result={}, content=[{"data": b"\x89\xff"}], display={"a": 1})
    sent = msgpack.unpackb(encode(1, "c", result))["body"]
    assert (sent["content"], sent["display"]) == ([{"data": b"\x89\xff"}], {"a": 1})
    assert decode(encode(1, "c", result)).body == result


def test_the_end_of_an_answers_speech_is_read_with_what_was_heard() -> None:
    event = {"event": "turn_spoken", "turnId": "a1", "state": "completed", "heard": "Good"}
    envelope = decode(raw(event, 105))
    assert envelope.body == BlockEvent(event="turn_spoken", turn_id="a1", state="completed", heard="Good")


def test_a_type_that_is_not_known_is_no_error() -> None:
    assert decode(raw({"id": "x"}, 42)).body is None


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b"", "The packet cannot be decoded"),
        (b"\xdd\xff\xff\xff\xff", "The packet cannot be decoded"),
        (b"\xc1", "The packet cannot be decoded"),
        (b"\x80\x01", "The packet cannot be decoded"),
        (b"\x91" * 2000, "The packet cannot be decoded"),
        (b"\x01", "The packet is not a map"),
        (b"\x81\x01\x01", "The packet cannot be decoded"),
        (raw({}, 6, "one"), "stanzaId: expected an integer"),
        (raw({}, True), "type: expected an integer"),
        (raw([1]), "body: expected a map"),
        (raw({"acknowledgedStanzaId": True, "success": True}, 8), "acknowledgement.acknowledgedStanzaId: "),
        (raw({"acknowledgedStanzaId": 1, "success": 1}, 8), "acknowledgement.success: "),
        (raw({"id": "m"}, 3), "assistant_message.content: Field required"),
        (raw({"id": "m" * 257, "content": ""}, 3), "assistant_message.id: "),
        (raw({"id": "m", "content": msgpack.ExtType(5, b"")}, 3), "The packet cannot be decoded"),
    ],
)
def test_what_cannot_be_read_is_malformed(frame: bytes, problem: str) -> None:
    with pytest.raises(MalformedMessage) as raised:
        decode(frame)
    assert str(raised.value).startswith(problem)


def test_a_malformed_text_is_not_repeated() -> None:
    with pytest.raises(MalformedMessage) as raised:
        decode(raw({"id": "r", "messageId": "m", "toolName": "secret!", "parameters": {}, "execution": "client"}))
    assert "secret" not in str(raised.value)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("x" * (1024 * 1024 + 1), TooLarge),
        (["x" * 1024 * 1024] * 4, TooLarge),
        (nested(40), TooLarge),
        ([0] * 100_001, TooLarge),
        ({f"key{n}": 0 for n in range(10_001)}, TooLarge),
        ({"k" * 257: 0}, TooLarge),
        ({1: 0}, Internal),
        (2**60, Internal),
        (object(), Internal),
    ],
)
def test_what_no_peer_would_read_is_not_sent(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        encode(1, "c", ToolUseResult(id="r", success=True, result={"v": value}))


def test_lone_surrogates_become_a_mark_and_long_integers_floats() -> None:
    frame = encode(1, "c", ToolUseResult(id="r", success=True, result={"text": "a\ud800", "n": 2**40, "none": None}))
    assert msgpack.unpackb(frame)["body"]["result"] == {"text": "a\ufffd", "n": 2.0**40, "none": None}
    assert b"\xcb" in frame


def test_an_absent_field_is_left_out() -> None:
    sent = msgpack.unpackb(encode(1, "c", UserMessage(id="m", content="Hi")))
    assert sent == {
        "stanzaId": 1,
        "conversationId": "c",
        "type": 2,
        "meta": {},
        "body": {"conversationId": "c", "id": "m", "content": "Hi"},
    }
    assert list(sent) == ["stanzaId", "conversationId", "type", "meta", "body"]


def test_a_room_names_its_conversation() -> None:
    names = ["conv_ac_X", "conv_ac_", "conv_x", "kitchen"]
    assert [conversation_id_of(name) for name in names] == ["ac_X", "conv_ac_", "conv_x", "kitchen"]
