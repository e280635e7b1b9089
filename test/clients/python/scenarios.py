"""Programs that use the Python client. The tests in the parent folder run them as `scenarios.py NAME URL TOKEN`.
Each line of output is JSON, and each line of input is a cue that the program waits for."""

import asyncio
import base64
import json
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from livekit import rtc
from parley_client import (
    Attachment,
    Form,
    Parley,
    ParleyError,
    PermissionAnswer,
    Tool,
    ToolContext,
    ToolError,
    ToolOutput,
    ask_user_tool,
    connect,
    events,
    join,
    tool,
)
from parley_client.forms import FieldValue
from parley_client.messages import PermissionRequest

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def report(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


CUES: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)


async def cue(name: str) -> None:
    """Waits for a cue from the test."""
    await CUES[name].wait()


async def listen() -> None:
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async for line in lines:
        CUES[line.decode().strip()].set()


async def enter(url: str, token: str) -> rtc.Room:
    room = rtc.Room()
    await room.connect(url, token, rtc.RoomOptions(auto_subscribe=False))
    return room


async def tell_answer(parley: Parley, text: str) -> None:
    try:
        report(answer=(await parley.ask(text, timeout=30)).text)
    except ParleyError as error:
        report(error=error.code)


async def stream(url: str, token: str) -> None:
    @tool(read_only=True)
    def look_up(word: str, context: ToolContext) -> dict[str, str]:
        """Looks a word up."""
        context.log(f"looking for {word}")
        context.progress(0.5)
        return {"meaning": f"{word} is good"}

    @tool
    async def fail(word: str) -> None:
        """Fails."""
        raise ToolError("no_access", "Not for you", {"word": word})

    async with join(url, token, tools=[look_up, fail]) as parley:
        async for sentence in parley.stream("Go"):
            report(sentence=sentence)


async def stop(url: str, token: str) -> None:
    @tool
    async def scan() -> None:
        """Scans for ever."""
        report(tool="started")
        try:
            await asyncio.Event().wait()
        finally:
            report(tool="cancelled")

    async with join(url, token, tools=[scan]) as parley:
        asking = asyncio.create_task(tell_answer(parley, "Go"))
        await cue("stop")
        parley.stop()
        await asking


async def show(url: str, token: str) -> None:
    """Shows the model the same picture with a message and in a tool result, and edits the message."""

    @tool(read_only=True)
    async def look() -> ToolOutput:
        """Looks out of the window."""
        return ToolOutput(content=[{"type": "image", "source": {"data": PNG}}], display={"title": "The view"})

    async with join(url, token, tools=[look]) as parley:
        answer = await parley.ask("", attachments=[Attachment(PNG, name="view.png"), Attachment("Milk")])
        report(answer=answer.text, shown=[result.display for result in answer.tool_results])
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        parley.on(events.AnswerEnd, lambda end: ended.set_result(end.text))
        await parley.vary(answer.message_id, "edit", new_content="And now?")
        report(answer=await ended)


async def form(url: str, token: str) -> None:
    """Fills in forms, at first like a person who does not read the question."""
    typed = iter(["40", "4"])

    async def fill_in(form: Form, context: ToolContext) -> dict[str, FieldValue]:
        report(form=form.message, problem=form.problem is not None)
        return {field.name: field.parse(next(typed)) for field in form.fields}

    async with join(url, token, tools=[ask_user_tool(fill_in)]) as parley:
        await tell_answer(parley, "Go")


async def permission(url: str, token: str) -> None:
    async def decide(request: PermissionRequest) -> PermissionAnswer:
        report(asked=request.title)
        if request.pattern == ["secret"]:
            return PermissionAnswer("reject", message="That is mine")
        return PermissionAnswer("once")

    async with join(url, token, on_permission=decide) as parley:
        parley.on(events.PermissionClosed, lambda closed: report(closed=closed.state))
        await tell_answer(parley, "Go")


async def ask(url: str, token: str) -> None:
    async with join(url, token) as parley:
        await tell_answer(parley, "Go")


def held_scan() -> Tool:
    """Returns a tool that ends on a cue from the test."""

    @tool
    async def scan() -> dict[str, int]:
        """Scans."""
        report(tool="started")
        await cue("scan")
        report(tool="ended")
        return {"pages": 1}

    return scan


async def leave(url: str, token: str) -> None:
    """Leaves while its tool runs or its answer arrives, and returns with a new room on a cue from the test."""
    room = await enter(url, token)
    async with await connect(room, [held_scan()]) as parley:
        asking = asyncio.create_task(tell_answer(parley, "Go"))
        await cue("leave")
        await room.disconnect()
        report(room="left")
        await cue("return")
        room = await enter(url, token)
        parley.rejoin(room)
        await parley.when_connected(10)
        report(room="back")
        await asking
    await room.disconnect()


async def stay(url: str, token: str) -> None:
    """Stays in the room, whatever happens to the network and the worker."""
    async with join(url, token, tools=[held_scan()]) as parley:
        parley.on(events.Disconnected, lambda event: report(lost=event.reason))
        parley.on(events.Connected, lambda _: report(connected=True))
        await tell_answer(parley, "Go")


async def push_to_talk(url: str, token: str) -> None:
    """Starts a turn before and after its microphone can be heard."""
    room = await enter(url, token)
    async with await connect(room) as parley:
        try:
            await parley.start_turn()
        except ParleyError as error:
            report(error=error.code, message=str(error))
        track = rtc.LocalAudioTrack.create_audio_track("microphone", rtc.AudioSource(48_000, 1))
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        publication = await room.local_participant.publish_track(track, options)
        await publication.wait_for_subscription()
        await parley.start_turn()
        report(turn="started")
        await parley.end_turn()
        await parley.start_turn()
        await parley.cancel_turn()
        report(turn="ended")
    await room.disconnect()


SCENARIOS: list[Callable[[str, str], Awaitable[None]]] = [
    stream,
    stop,
    show,
    form,
    permission,
    ask,
    leave,
    stay,
    push_to_talk,
]


async def main(name: str, url: str, token: str) -> None:
    scenario = next(scenario for scenario in SCENARIOS if getattr(scenario, "__name__", "") == name)
    listening = asyncio.create_task(listen())
    await scenario(url, token)
    listening.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
