"""The program that docs/conformance.md asks for, written with the Python client."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any, get_args

from livekit import rtc
from parley_client import Parley, Tool, ToolContext, connect, events, tool
from parley_client.messages import AssistantSentence, PermissionRequest, PermissionWord, StartAnswer


def print_event(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


class ReportedRun:
    """Reports when a call starts, and when it is cancelled."""

    def __init__(self, context: ToolContext) -> None:
        self._id = context.call_id

    def __enter__(self) -> None:
        print_event("run", id=self._id)

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is asyncio.CancelledError:
            print_event("aborted", id=self._id)


@tool(input={"type": "object"})
async def echo(given: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    """Returns its input."""
    with ReportedRun(context):
        return given


@tool
async def slow(ms: int, context: ToolContext) -> None:
    """Waits."""
    with ReportedRun(context):
        await asyncio.sleep(ms / 1000)


@tool
async def fail(message: str, context: ToolContext) -> None:
    """Fails."""
    with ReportedRun(context):
        raise RuntimeError(message)


@tool
async def big(bytes: int, context: ToolContext) -> dict[str, str]:
    """Returns a large result."""
    with ReportedRun(context):
        return {"text": "x" * bytes}


@tool
async def report(context: ToolContext) -> None:
    """Reports its progress."""
    with ReportedRun(context):
        context.log("half way")
        context.progress(0.5)
        await asyncio.sleep(0.05)


TOOLS: dict[str, Tool] = {each.name: each for each in (echo, slow, fail, big, report)}


class Offers:
    def __init__(self, parley: Parley) -> None:
        self._parley = parley
        self._withdraw: dict[str, Callable[[], None]] = {}

    def set(self, names: list[str]) -> None:
        for name in self._withdraw.keys() - set(names):
            self._withdraw.pop(name)()
        for name in names:
            if name in TOOLS and name not in self._withdraw:
                self._withdraw[name] = self._parley.register_tool(TOOLS[name])


def watch(parley: Parley) -> None:
    async def decide(request: PermissionRequest) -> None:
        print_event("permission", id=request.id)
        words: tuple[PermissionWord, ...] = get_args(PermissionWord)
        word = next((word for word in words if request.title.startswith(word)), None)
        if word:
            await parley.respond_to_permission(request.id, word)

    parley.on(StartAnswer, lambda start: print_event("answer_start", messageId=start.previous_id))
    parley.on(AssistantSentence, lambda piece: print_event("sentence", answerId=piece.previous_id, text=piece.text))
    parley.on(events.AnswerEnd, lambda end: print_event("answer", messageId=end.previous_id, text=end.text))
    parley.on(
        events.ErrorEvent,
        lambda event: print_event("error", code=event.error.number, originatingId=event.originating_id),
    )
    parley.on(PermissionRequest, decide)
    parley.on(events.PermissionClosed, lambda closed: print_event("permission_closed", id=closed.id))


async def lines() -> AsyncIterator[dict[str, Any]]:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async for line in reader:
        yield json.loads(line)


async def main() -> None:
    url, token = os.environ["LIVEKIT_URL"], os.environ["LIVEKIT_TOKEN"]
    names, features = (os.environ.get(f"CONFORMANCE_{name}", "").split(",") for name in ("TOOLS", "FEATURES"))

    async def enter(room: rtc.Room) -> None:
        await room.connect(url, token, rtc.RoomOptions(auto_subscribe=False))
        print_event("joined")

    room = rtc.Room()
    async with await connect(room, features=[feature for feature in features if feature]) as parley:
        offers = Offers(parley)
        offers.set(names)
        watch(parley)
        await enter(room)
        async for line in lines():
            match line["command"]:
                case "say":
                    parley.send_text(line["text"])
                case "stop":
                    parley.stop()
                case "announce":
                    offers.set(line["tools"])
                case "rejoin":
                    await room.disconnect()
                    room = rtc.Room()
                    parley.rejoin(room)
                    await enter(room)
    await room.disconnect()


if __name__ == "__main__":
    asyncio.run(main())
