"""Results: what a tool returns or raises, and tools that never finish."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from parley_client import Tool, ToolError, ToolOutput, events, tool
from parley_client.messages import Json, ToolUseResult
from parley_client.tools import run_tool as running
from parley_client.tools.result_store import MAX_IDS, ResultStore
from parley_client.tools.run_tool import failed
from pydantic import BaseModel

from memory_room import opened, settled


def echo(run: Callable[[], Any]) -> Tool:
    @tool(name="echo")
    async def call() -> Any:
        """Does what the test says."""
        return run()

    return call


def raising(error: BaseException) -> Callable[[], Any]:
    def run() -> Any:
        raise error

    return run


async def result_of(run: Callable[[], Any], **fields: Any) -> ToolUseResult:
    async with opened([echo(run)]) as (room, _):
        room.request("r1", **fields)
        return await room.result("r1")


class Place(BaseModel):
    name: str
    opened: datetime


@dataclass
class Size:
    path: Path


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"text": "hello", "none": None}, {"text": "hello", "none": None}),
        (None, {}),
        ("yes", {"value": "yes"}),
        (0, {"value": 0}),
        (False, {"value": False}),
        ((1, 2), {"value": [1, 2]}),
        (Place(name="a", opened=datetime(2026, 1, 2, tzinfo=UTC)), {"name": "a", "opened": "2026-01-02T00:00:00Z"}),
        ([Size(Path("a/b"))], {"value": [{"path": "a/b"}]}),
    ],
)
async def test_what_a_tool_returns_is_its_result(value: Any, result: Json) -> None:
    sent = await result_of(lambda: value)
    assert sent == ToolUseResult(id="r1", success=True, result=result)


PICTURE = {"type": "image", "source": {"data": b"\x89PNG\r\n\xff"}}


async def test_a_tool_shows_the_model_blocks_whose_bytes_stay_bytes_and_people_something_else() -> None:
    output = ToolOutput(
        {"floor": 2}, content=[PICTURE], display={"url": "/plans/2", "of": datetime(2026, 1, 2, tzinfo=UTC)}
    )
    async with opened([echo(lambda: output)]) as (room, parley):
        told: list[events.ToolResult] = []
        parley.on(events.ToolResult, told.append)
        room.request("r1")
        shown = {"url": "/plans/2", "of": "2026-01-02T00:00:00Z"}
        assert await room.result("r1") == ToolUseResult(
            id="r1", success=True, result={"floor": 2}, content=[PICTURE], display=shown
        )
        assert [result.display for result in told] == [shown]


async def test_a_repeated_request_gets_the_blocks_again() -> None:
    async with opened([echo(lambda: ToolOutput(content=[PICTURE]))]) as (room, _):
        room.request("r1")
        await room.result("r1")
        await settled()
        room.request("r1")
        await room.until(lambda: len(room.results("r1")) == 2)
        assert [(result.result, result.content) for result in room.results("r1")] == [({}, [PICTURE])] * 2


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (ToolOutput(content=[{"type": "text", "text": object()}]), "execution_error"),
        (ToolOutput(display={"act": print}), "execution_error"),
        (ToolOutput(content=[{"type": "image", "source": {"data": bytes(5 * 1024 * 1024)}}]), "result_too_large"),
    ],
)
async def test_blocks_that_cannot_be_sent_are_a_failure_of_their_call(output: ToolOutput, code: str) -> None:
    assert (await result_of(lambda: output)).error_code == code


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError("The printer is on fire"), "execution_error", "The printer is on fire"),
        (ValueError(), "execution_error", "ValueError"),
        (ToolError("no_access", "Half of it"), "no_access", "Half of it"),
        (asyncio.CancelledError(), "execution_error", "The tool cancelled itself"),
        (TimeoutError("too slow"), "execution_error", "too slow"),
    ],
)
async def test_what_a_tool_raises_is_its_answer(error: BaseException, code: str, message: str) -> None:
    assert await result_of(raising(error)) == failed("r1", code, message)


async def test_a_tool_error_keeps_a_partial_result() -> None:
    sent = await result_of(raising(ToolError("no_access", "Half of it", {"read": 3})))
    assert sent == failed("r1", "no_access", "Half of it", {"read": 3})


async def test_a_long_message_is_cut_to_a_whole_character() -> None:
    message = (await result_of(raising(OSError("é" * 9_000)))).error_message or ""
    assert message == "é" * 4_096 + "\n[truncated: 18000 bytes, the first 8192 are shown]"


def cyclic() -> Json:
    value: Json = {}
    value["self"] = value
    return value


@pytest.mark.parametrize("value", [{"act": print}, cyclic(), {"count": 2**70}, b"\xff"])
async def test_what_cannot_be_encoded_is_an_execution_error_that_says_so(value: Any) -> None:
    sent = await result_of(lambda: value)
    assert (sent.success, sent.error_code) == (False, "execution_error")
    assert (sent.error_message or "").startswith("The result cannot be encoded: ")


@pytest.mark.parametrize("value", [["x" * 512 * 1024] * 10, "x" * (1024 * 1024 + 1)])
async def test_what_is_over_a_limit_is_result_too_large(value: Any) -> None:
    assert (await result_of(lambda: value)).error_code == "result_too_large"


async def test_a_result_above_15000_bytes_goes_as_a_byte_stream() -> None:
    async with opened([echo(lambda: "x" * 100_000)]) as (room, _):
        room.request("r1")
        await room.result("r1")
        assert [heard.way for heard in room.heard if isinstance(heard.body, ToolUseResult)] == ["stream"]


LATE = failed("r1", "timeout", "Tool execution exceeded timeout of 20ms")


async def test_a_slow_tool_is_cancelled_at_its_timeout_and_answered_in_the_words_of_the_protocol() -> None:
    cancelled = asyncio.Event()

    @tool(name="echo")
    async def slow() -> None:
        """Waits."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with opened([slow]) as (room, parley):
        room.request("r1", timeout_ms=20)
        assert await room.result("r1") == LATE
        assert parley.running_tool_count == 0
        async with asyncio.timeout(2):
            await cancelled.wait()


async def test_a_tool_that_blocks_its_thread_is_answered_in_time_too_and_once() -> None:
    release, ended = threading.Event(), threading.Event()

    @tool(name="echo")
    def blocking() -> None:
        """Blocks."""
        release.wait(5)
        ended.set()

    async with opened([blocking]) as (room, _):
        room.request("r1", timeout_ms=20)
        assert await room.result("r1") == LATE
        release.set()
        assert await asyncio.to_thread(ended.wait, 5)
        await settled()
        assert room.results("r1") == [LATE]


@pytest.mark.parametrize("fields", [{}, {"timeout_ms": 0}])
async def test_a_request_without_a_time_is_given_the_protocol_s(fields: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "DEFAULT_TIMEOUT_MS", 25)

    @tool(name="echo", timeout=0.001)
    async def stuck() -> None:
        """Never ends."""
        await asyncio.sleep(60)

    async with opened([stuck]) as (room, _):
        room.request("r1", **fields)
        assert (await room.result("r1")).error_message == "Tool execution exceeded timeout of 25ms"


async def test_fifty_calls_at_once_are_each_answered_once() -> None:
    @tool(name="echo")
    async def numbered(n: int) -> dict[str, int]:
        """Returns its number."""
        await asyncio.sleep(n % 7 / 1_000)
        return {"n": n}

    async with opened([numbered]) as (room, _):
        for n in range(50):
            room.request(f"r{n}", {"n": n})
        results = [await room.result(f"r{n}") for n in range(50)]
        await settled()
        assert [result.result for result in results] == [{"n": n} for n in range(50)]
        assert len(room.all(ToolUseResult)) == 50


def test_large_results_are_let_go_but_their_ids_still_forbid_a_second_run() -> None:
    store = ResultStore()
    for n in range(3):
        store.add(failed(f"r{n}", "timeout", "late"), 4 * 1024 * 1024)
    dropped, kept = store.find("r0"), store.find("r2")
    assert dropped
    assert dropped.error_message == "The client no longer has the result of this request"
    assert kept == failed("r2", "timeout", "late")
    assert store.find("r9") is None


def test_ids_are_bounded_too() -> None:
    store = ResultStore()
    for n in range(MAX_IDS + 1):
        store.add(failed(f"r{n}", "timeout", "late"), 10)
    assert store.find("r0") is None
    assert store.find("r1")
