"""Requests that are run, claimed, reported, refused, repeated or canceled."""

import asyncio
from typing import Any

import msgpack
import pytest
from parley_client import Peer, Tool, ToolContext, events, tool
from parley_client.messages import Acknowledgement, ErrorMessage, ToolUseCancel, ToolUseProgress, ToolUseResult

from memory_room import MemoryRoom, opened, settled


class Echo:
    """A tool that counts its runs."""

    def __init__(self, seconds: float = 0) -> None:
        self.runs = 0

        @tool(name="echo")
        async def run() -> dict[str, int]:
            """Counts."""
            self.runs += 1
            run_number = self.runs
            await asyncio.sleep(seconds)
            return {"run": run_number}

        self.tool: Tool = run


def raw(room: MemoryRoom, stanza_id: int = -90, **fields: Any) -> None:
    body = {"messageId": "m1", "toolName": "echo", "parameters": {}} | fields
    body = {key: value for key, value in body.items() if value is not ...}
    room.say_bytes(msgpack.packb({"stanzaId": stanza_id, "type": 6, "body": body}))


async def test_the_same_request_again_is_answered_again_and_not_run_again() -> None:
    echo = Echo()
    async with opened([echo.tool]) as (room, _):
        stanza_id = room.request("r1")
        await room.result("r1")
        await settled()
        room.request("r1")
        await room.until(lambda: len(room.results("r1")) == 2)
        raw(room, stanza_id, id="r1", execution="client")
        await room.until(lambda: len(room.results("r1")) == 3)
        assert [result.result for result in room.results("r1")] == [{"run": 1}] * 3


async def test_the_same_request_while_it_runs_starts_nothing() -> None:
    echo = Echo(60)
    async with opened([echo.tool]) as (room, _):
        for _ in range(2):
            room.request("r1", timeout_ms=30)
        await room.result("r1")
        await settled()
        assert echo.runs == 1
        assert len(room.results("r1")) == 1


async def test_a_request_that_was_unknown_stays_so_when_the_tool_comes_later() -> None:
    async with opened() as (room, parley):
        room.request("r1")
        await room.result("r1")
        await settled()
        parley.register_tool(Echo().tool)
        room.request("r1")
        await room.until(lambda: len(room.results("r1")) == 2)
        assert [result.error_code for result in room.results("r1")] == ["unknown_tool"] * 2
        assert room.results("r1")[0].error_message == "Tool 'echo' is not supported by this client"


@pytest.mark.parametrize(
    "fields", [{}, {"execution": "Client"}, {"parameters": ...}, {"execution": "Client", "toolName": "../echo"}]
)
async def test_a_request_whose_execution_cannot_be_read_is_answered_with_error_101_and_not_run(
    fields: dict[str, Any],
) -> None:
    echo = Echo()
    async with opened([echo.tool]) as (room, _):
        raw(room, id="r1", **fields)
        await room.until(lambda: len(room.all(ErrorMessage)) == 1)
        [error] = room.all(ErrorMessage)
        assert (error.code, error.originating_id) == (101, "r1")
        assert error.message.startswith("tool_use_request.execution: ")
        assert (room.results("r1"), echo.runs) == ([], 0)


@pytest.mark.parametrize(
    ("fields", "code", "why"),
    [
        ({"toolName": "../echo"}, "unknown_tool", "Tool '../echo' is not supported by this client"),
        ({"toolName": ...}, "unknown_tool", "Tool '' is not supported by this client"),
        ({"toolName": ["echo"]}, "unknown_tool", "Tool '' is not supported by this client"),
        ({"parameters": ...}, "invalid_parameters", "tool_use_request.parameters: "),
        ({"parameters": [1]}, "invalid_parameters", "tool_use_request.parameters: "),
        ({"timeoutMs": "5"}, "invalid_parameters", "tool_use_request.timeoutMs: "),
        ({"timeoutMs": -1}, "invalid_parameters", "tool_use_request.timeoutMs: "),
        ({"messageId": ...}, "invalid_parameters", "tool_use_request.messageId: "),
    ],
)
async def test_a_wrong_request_that_is_ours_is_answered_with_one_result(
    fields: dict[str, Any], code: str, why: str
) -> None:
    echo = Echo()
    async with opened([echo.tool]) as (room, _):
        raw(room, id="r1", execution="client", **fields)
        result = await room.result("r1")
        await settled()
        assert result.error_code == code
        assert (result.error_message or "").startswith(why)
        assert (room.all(ErrorMessage), echo.runs, len(room.all(ToolUseResult))) == ([], 0, 1)


async def test_a_request_without_an_id_which_no_result_can_name_is_answered_with_error_101() -> None:
    async with opened([Echo().tool]) as (room, _):
        raw(room, execution="client")
        await room.until(lambda: len(room.all(ErrorMessage)) == 1)
        [error] = room.all(ErrorMessage)
        assert (error.code, error.originating_id, room.all(ToolUseResult)) == (101, None, [])


async def test_a_wrong_request_for_the_server_is_none_of_ours() -> None:
    async with opened([Echo().tool]) as (room, parley):
        errors: list[int] = []
        parley.on(events.ErrorEvent, lambda event: errors.append(event.error.number))
        raw(room, id="r1", execution="server", timeoutMs=-1)
        await settled()
        assert (errors, room.all(ErrorMessage), room.results("r1")) == ([101], [], [])


async def test_a_request_for_the_server_is_shown_and_neither_run_nor_answered() -> None:
    echo = Echo()
    async with opened([echo.tool]) as (room, parley):
        told: list[object] = []
        parley.on(events.ToolCall, told.append)
        parley.on(events.ToolResult, told.append)
        room.request("r1", {"a": 1}, execution="server")
        room.say(ToolUseResult(id="r1", success=True, result={"b": 2}, display={"c": 3}))
        await settled()
        assert told == [
            events.ToolCall("r1", "m1", "echo", {"a": 1}, "server", None),
            events.ToolResult("r1", "echo", True, {"b": 2}, None, None, "server", {"c": 3}),
        ]
        assert (room.results("r1"), echo.runs) == ([], 0)


async def test_an_either_request_that_we_can_serve_is_claimed_by_an_ack_of_its_stanza_then_answered() -> None:
    async with opened([Echo().tool]) as (room, _):
        stanza_id = room.request("r1", execution="either")
        assert (await room.result("r1")).success
        assert room.all(Acknowledgement) == [Acknowledgement(acknowledged_stanza_id=stanza_id, success=True)]


async def test_an_either_request_for_a_tool_that_we_lack_is_declined_and_left_to_the_server() -> None:
    async with opened() as (room, _):
        stanza_id = room.request("r1", execution="either")
        await room.until(lambda: len(room.all(Acknowledgement)) == 1)
        await settled()
        assert room.all(Acknowledgement) == [Acknowledgement(acknowledged_stanza_id=stanza_id, success=False)]
        assert room.results("r1") == []


async def test_a_call_that_the_server_took_over_is_only_shown_when_it_comes_again() -> None:
    async with opened([Echo(60).tool]) as (room, parley):
        runners: list[str] = []
        parley.on(events.ToolCall, lambda call: runners.append(call.ran_by))
        room.request("r1", execution="either")
        room.say(ToolUseCancel(id="r1", reason="superseded"))
        await room.result("r1")
        room.request("r1", execution="server")
        await settled()
        assert runners == ["client", "server"]
        assert len(room.results("r1")) == 1


async def test_only_agents_are_heard() -> None:
    echo = Echo()
    async with opened([echo.tool]) as (room, _):
        body = {"id": "r1", "messageId": "m1", "toolName": "echo", "parameters": {}, "execution": "client"}
        for sender in (Peer("mallory", is_agent=False), None):
            room.say_bytes(msgpack.packb({"stanzaId": -5, "type": 6, "body": body}), sender)
        await settled()
        assert (echo.runs, room.results("r1")) == (0, [])


async def test_a_cancel_by_the_worker_cancels_the_tool_and_is_answered_once() -> None:
    cancelled: list[bool] = []

    @tool(name="echo")
    async def stubborn() -> str:
        """Does not care."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
        return "still here"

    async with opened([stubborn]) as (room, parley):
        room.request("r1")
        await settled()
        room.say(ToolUseCancel(id="r1", reason="interrupted"))
        result = await room.result("r1")
        await settled()
        assert result.error_code == "cancelled"
        assert result.error_message == "The worker cancelled the call (interrupted)"
        assert (cancelled, len(room.results("r1")), parley.running_tool_count) == ([True], 1, 0)


async def test_a_request_that_its_cancel_has_overtaken_is_not_run() -> None:
    echo = Echo()
    async with opened([echo.tool]) as (room, _):
        room.say(ToolUseCancel(id="r1", reason="timeout"))
        room.request("r1")
        assert (await room.result("r1")).error_code == "cancelled"
        assert echo.runs == 0


async def test_what_a_tool_logs_and_reports_goes_out_in_few_messages_before_its_result() -> None:
    @tool(name="echo")
    def in_a_thread(context: ToolContext) -> None:
        """Tells what it does."""
        context.log("one")
        context.log("two")
        context.progress(0.5)
        context.progress(7)

    async with opened([in_a_thread]) as (room, _):
        room.request("r1")
        await room.result("r1")
        assert room.all(ToolUseProgress) == [ToolUseProgress(id="r1", log="one\ntwo", progress=1.0)]
        kinds = [type(heard.body) for heard in room.heard]
        assert kinds.index(ToolUseProgress) < kinds.index(ToolUseResult)


async def test_a_tool_for_the_room_is_told_whose_turn_it_is_when_that_is_another_s() -> None:
    @tool(name="echo", scope="room")
    async def whose(context: ToolContext) -> dict[str, str | None]:
        """Says whose turn it is."""
        return {"for": context.participant, "trace": context.traceparent}

    async with opened([whose]) as (room, _):
        room.request("r1", participant="bob")
        room.request("r2")
        assert (await room.result("r1")).result == {"for": "bob", "trace": None}
        assert (await room.result("r2")).result == {"for": None, "trace": None}


async def test_bytes_that_are_no_message_do_no_harm() -> None:
    async with opened([Echo().tool]) as (room, parley):
        errors: list[int] = []
        parley.on(events.ErrorEvent, lambda event: errors.append(event.error.number))
        room.say_bytes(b"\xdd\xff\xff\xff\xff")
        room.say_bytes(b"")
        room.request("r1")
        assert (await room.result("r1")).success
        assert errors == [101, 101]
