"""A Parley client for the terminal, written with the Python client in clients/python. See README.md."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from livekit import rtc
from parley_client import Parley, ParleyError, connect, events, fetch_token
from parley_client.messages import AssistantSentence

from tools import tools_of


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def enter(url: str, token: str) -> rtc.Room:
    room = rtc.Room()
    await room.connect(url, token, rtc.RoomOptions(auto_subscribe=False))  # text only: no sound
    return room


def show(parley: Parley) -> None:
    parley.on(AssistantSentence, lambda sentence: sentence.text and print(sentence.text, flush=True))
    parley.on(events.ErrorEvent, lambda event: log(f"error {event.error.number}: {event.error}"))
    parley.on(events.ToolCall, show_call)


def show_call(call: events.ToolCall) -> None:
    if call.ran_by == "server":
        log(f"[the server runs {call.tool_name}]")
    else:
        log(f"[running {call.tool_name} for {call.participant or 'us'}]")


async def run(options: argparse.Namespace) -> None:
    url, token = options.url, options.token
    if not token:
        secret = os.environ.get("TOKEN_SECRET")
        url, token = await fetch_token(options.worker, room=options.room, identity=options.identity, secret=secret)
    room = await enter(url, token)
    try:
        tools = tools_of(options.folder)
        parley = await connect(room, tools, wait_for_agent=options.timeout, announce=not options.no_announce)
        async with parley:
            show(parley)
            if options.say is not None:
                await parley.ask(options.say, timeout=options.timeout)
                return
            log("ready: one message a line; /rejoin leaves and comes back; /quit ends")
            while (line := (await asyncio.to_thread(sys.stdin.readline))) and line.strip() != "/quit":
                if line.strip() == "/rejoin":
                    await room.disconnect()
                    room = await enter(url, token)
                    parley.rejoin(room)
                elif line.strip():
                    parley.send_text(line.strip())
    finally:
        await room.disconnect()


def main() -> int:
    parser = argparse.ArgumentParser(description="A Parley client in Python.")
    parser.add_argument("--worker", default="http://127.0.0.1:8080", help="the worker's HTTP server, for a token")
    parser.add_argument("--room", default="python")
    parser.add_argument("--identity", default="python")
    parser.add_argument("--url", default="ws://127.0.0.1:7880", help="LiveKit, with --token")
    parser.add_argument("--token", help="a LiveKit token of your own; nothing is fetched then")
    parser.add_argument("--folder", type=Path, default=Path(), help="what the tools may read")
    parser.add_argument("--no-announce", action="store_true", help="announce no tools: the worker asks for its own")
    parser.add_argument("--say", help="say this, print the answer, and exit with 0, or 1 when there was none")
    parser.add_argument("--timeout", type=float, default=60, help="seconds, with --say")
    options = parser.parse_args()
    try:
        asyncio.run(run(options))
    except (ParleyError, rtc.ConnectError) as error:
        log(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
