"""A Parley client in Python, written from docs/protocol.md. See README.md."""

import argparse
import asyncio
import itertools
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import Any

import msgpack
from livekit import rtc

from tools import InvalidParameters, Tool, tools_of

TOPIC = "parley"
PACKET_BYTES = 15_000
ENVELOPE_BYTES = 4 * 1024 * 1024
DEFAULT_TIMEOUT_MS = 30_000
RESEND_AFTER_S = 2
RESEND_FOR_S = 30
KEPT_RESULTS = 256
KEPT_STANZAS = 2_000

ERROR, USER_MESSAGE, ASSISTANT_MESSAGE, TOOL_REQUEST, TOOL_RESULT, ACK = 1, 2, 3, 6, 7, 8
CONFIGURATION, START_ANSWER, SENTENCE, TOOL_CANCEL = 12, 13, 16, 103


def failure(code: str, message: str) -> dict:
    return {"success": False, "errorCode": code, "errorMessage": message}


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Unreachable(Exception):
    """There is nobody to talk to; the message is for the person at the terminal."""


class ParleyClient:
    def __init__(self, tools: dict[str, Tool], announces: bool = True) -> None:
        self.tools = tools
        self.announces = announces
        self.room: rtc.Room | None = None
        self.agent: str | None = None  # the identity of the worker's participant
        self.conversation_id = ""
        self.stanza_ids = itertools.count(1)
        self.seen: OrderedDict[tuple[str, int], None] = OrderedDict()  # stanzas by sender, for repetitions
        self.last_seen = 0
        self.unacked: dict[int, tuple[bytes, asyncio.Event]] = {}
        self.calls: dict[str, asyncio.Task] = {}  # the requests that run
        self.results: OrderedDict[str, dict] = OrderedDict()  # the requests that have ended
        self.answers: dict[str, str] = {}  # an answer's id -> our message
        self.turns: dict[str, asyncio.Future[bool]] = {}  # our message -> whether it was answered
        self.configured = asyncio.Event()
        self.tasks: set[asyncio.Task] = set()

    # -- the room ---------------------------------------------------------------------------------

    async def join(self, url: str, token: str) -> None:
        self.configured.clear()
        self.agent = None
        self.room = room = rtc.Room()
        room.on("data_received", self.on_packet)
        room.on("participant_connected", self.on_participant)
        room.on("participant_disconnected", self.on_participant_left)
        room.on("reconnected", self.configure)
        room.register_byte_stream_handler(TOPIC, lambda reader, sender: self.spawn(self.on_stream(room, reader, sender)))
        await room.connect(url, token, rtc.RoomOptions(auto_subscribe=False))
        for participant in list(room.remote_participants.values()):
            self.on_participant(participant)

    async def leave(self) -> None:
        if self.room:
            await self.room.disconnect()

    def on_participant(self, participant: rtc.RemoteParticipant) -> None:
        if participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT and participant.identity != self.agent:
            self.agent = participant.identity
            self.configure()

    def on_participant_left(self, participant: rtc.RemoteParticipant) -> None:
        if participant.identity == self.agent:
            self.agent = None  # the next worker takes the same session up

    def is_agent(self, room: rtc.Room, identity: str | None) -> bool:
        participant = room.remote_participants.get(identity or "")
        return participant is not None and participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT

    def on_packet(self, packet: rtc.DataPacket) -> None:
        # Only what the worker sent: nobody else in the room can make us run a tool.
        sender = packet.participant
        if packet.topic == TOPIC and sender and sender.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT:
            self.on_frame(packet.data, sender.identity)

    async def on_stream(self, room: rtc.Room, reader: rtc.ByteStreamReader, sender: str) -> None:
        frame = bytearray()
        is_wanted = self.is_agent(room, sender)
        try:
            async for chunk in reader:
                if is_wanted and len(frame) <= ENVELOPE_BYTES:
                    frame += chunk
        except rtc.StreamError as error:  # lastSequenceSeen brings it again
            return log(f"half a stream: {error}")
        if is_wanted and len(frame) <= ENVELOPE_BYTES:
            self.on_frame(bytes(frame), sender)

    # -- sending ----------------------------------------------------------------------------------

    def send(self, message_type: int, body: dict, as_stream: bool = False) -> asyncio.Event:
        """Sends until the worker acknowledges it; the event is set when it has."""
        is_ack = message_type == ACK
        stanza_id = 0 if is_ack else next(self.stanza_ids)
        frame = self.encode(stanza_id, message_type, body)
        acked = asyncio.Event()
        if not is_ack:
            self.unacked[stanza_id] = (frame, acked)
        self.spawn(self.deliver(stanza_id, frame, acked, as_stream))
        return acked

    def encode(self, stanza_id: int, message_type: int, body: dict) -> bytes:
        return msgpack.packb(
            {
                "stanzaId": stanza_id,
                "conversationId": self.conversation_id,
                "type": message_type,
                "meta": {"timestamp": float(int(time.time() * 1000))},
                "body": {"conversationId": self.conversation_id, **body},
            }
        )

    async def deliver(self, stanza_id: int, frame: bytes, acked: asyncio.Event, as_stream: bool) -> None:
        give_up_at = time.monotonic() + RESEND_FOR_S
        while True:
            try:
                await self.write(frame, as_stream)
            except Exception as error:  # between two connections: the same stanza goes again
                log(f"not sent yet: {error}")
            if stanza_id == 0:
                return
            try:
                return await asyncio.wait_for(acked.wait(), RESEND_AFTER_S)
            except TimeoutError:
                if time.monotonic() > give_up_at:
                    self.unacked.pop(stanza_id, None)
                    return log(f"stanza {stanza_id} was never acknowledged")

    async def write(self, frame: bytes, as_stream: bool) -> None:
        if not self.room or not self.room.isconnected() or not self.agent:
            raise ConnectionError("no worker in the room")
        participant, to = self.room.local_participant, [self.agent]
        if not as_stream and len(frame) <= PACKET_BYTES:
            return await participant.publish_data(frame, reliable=True, topic=TOPIC, destination_identities=to)
        writer = await participant.stream_bytes("envelope", topic=TOPIC, destination_identities=to)
        await writer.write(frame)
        await writer.aclose()

    def configure(self, *_: object) -> None:
        body: dict = {"clientVersion": "python example 1", "features": ["claims", "tool_use_cancel"]}
        if self.last_seen:
            body["lastSequenceSeen"] = self.last_seen
        if self.announces:
            body["tools"] = [tool.announce(name) for name, tool in self.tools.items()]
        self.send(CONFIGURATION, body, as_stream=True)  # a stream always names its sender

    def say(self, content: str) -> "asyncio.Future[bool]":
        message_id = f"msg_{uuid.uuid4().hex}"
        self.turns[message_id] = asyncio.get_running_loop().create_future()
        self.send(USER_MESSAGE, {"id": message_id, "content": content})
        return self.turns[message_id]

    # -- receiving --------------------------------------------------------------------------------

    def on_frame(self, frame: bytes, sender: str) -> None:
        try:
            envelope = msgpack.unpackb(frame)
            self.on_envelope(envelope["stanzaId"], envelope["type"], envelope, sender)
        except Exception as error:  # whatever the bytes are, the client goes on
            log(f"unreadable frame: {error!r}")

    def on_envelope(self, stanza_id: int, message_type: int, envelope: dict, sender: str) -> None:
        body = envelope["body"]
        if conversation_id := envelope.get("conversationId"):
            self.conversation_id = conversation_id
        if stanza_id < 0:
            # A request that comes again wants its answer again; anything else is handled once.
            is_repeated = (sender, stanza_id) in self.seen
            if is_repeated and message_type != TOOL_REQUEST:
                return
            if not is_repeated:
                self.seen[sender, stanza_id] = None
                self.last_seen = stanza_id
            if len(self.seen) > KEPT_STANZAS:
                self.seen.popitem(last=False)
        if message_type == ACK:
            if pending := self.unacked.pop(body.get("acknowledgedStanzaId"), None):
                pending[1].set()
        elif message_type == CONFIGURATION:
            self.configured.set()
        elif message_type == START_ANSWER:
            self.answers[body["id"]] = body["previousId"]
        elif message_type == SENTENCE:
            self.on_sentence(body)
        elif message_type == ASSISTANT_MESSAGE:
            print(body["content"], flush=True)
            self.end_turn(body.get("previousId"), True)
        elif message_type == TOOL_REQUEST:
            self.on_tool_request(stanza_id, body)
        elif message_type == TOOL_RESULT:
            log(f"[the server's tool {body.get('id')}: {'done' if body.get('success') else body.get('errorMessage')}]")
        elif message_type == TOOL_CANCEL:
            self.on_tool_cancel(body)
        elif message_type == ERROR:
            log(f"error {body.get('code')}: {body.get('message')}")
            self.end_turn(body.get("originatingId"), False)

    def on_sentence(self, body: dict) -> None:
        if body.get("text"):
            print(body["text"], flush=True)
        if body.get("isFinal"):
            self.end_turn(self.answers.pop(body.get("previousId"), None), True)

    def end_turn(self, message_id: str | None, succeeded: bool) -> None:
        turn = self.turns.pop(message_id, None) if message_id else None
        if turn and not turn.done():
            turn.set_result(succeeded)

    # -- tools ------------------------------------------------------------------------------------

    def on_tool_request(self, stanza_id: int, body: dict) -> None:
        request_id, name, execution = body.get("id"), body.get("toolName"), body.get("execution")
        if execution not in ("server", "client", "either"):
            message = f"tool_use_request.execution: expected server, client or either, received {execution!r}"
            return self.send_malformed(message, request_id)
        if execution == "server":
            return log(f"[the server runs {name}]")
        if not isinstance(request_id, str):  # no result can name it
            return self.send_malformed("tool_use_request.id: expected a text", None)
        if request_id in self.results:
            self.send(TOOL_RESULT, self.results[request_id])
            return
        if execution == "either":  # claim within a second, or decline
            has_tool = isinstance(name, str) and name in self.tools
            self.send(ACK, {"acknowledgedStanzaId": stanza_id, "success": has_tool})
            if not has_tool:
                return
        if request_id not in self.calls:
            log(f"[running {name} for {body.get('participant') or 'us'}]")
            timeout_ms = body.get("timeoutMs") or DEFAULT_TIMEOUT_MS
            call = self.spawn(self.run_tool(request_id, name, body.get("parameters"), timeout_ms))
            self.calls[request_id] = call

    def send_malformed(self, message: str, originating_id: Any) -> None:
        about = {"originatingId": originating_id} if isinstance(originating_id, str) else {}
        error = {"id": f"err_{uuid.uuid4().hex}", "code": 101, "message": message, "severity": 2}
        self.send(ERROR, {**error, "recoverable": True, **about})

    async def run_tool(self, request_id: str, name: str, parameters: Any, timeout_ms: float) -> None:
        try:
            outcome = await self.outcome_of(name, parameters, timeout_ms)
        except asyncio.CancelledError:  # by on_tool_cancel
            outcome = failure("cancelled", "The call was cancelled")
            log(f"[{name} was cancelled]")
        result = {"id": request_id, **outcome}
        try:
            is_too_large = len(self.encode(0, TOOL_RESULT, result)) > ENVELOPE_BYTES - 16
        except (TypeError, ValueError, OverflowError) as error:  # not something that MessagePack can say
            result = {"id": request_id, **failure("execution_error", f"The result cannot be sent: {error}")}
        else:
            if is_too_large:
                result = {"id": request_id, **failure("result_too_large", "The result is over 4 MiB")}
        self.calls.pop(request_id, None)
        self.keep(request_id, result)
        self.send(TOOL_RESULT, result)

    def keep(self, request_id: str, result: dict) -> None:
        self.results[request_id] = result
        if len(self.results) > KEPT_RESULTS:
            self.results.popitem(last=False)

    async def outcome_of(self, name: str, parameters: Any, timeout_ms: float) -> dict:
        tool = self.tools.get(name) if isinstance(name, str) else None
        if not tool:
            return failure("unknown_tool", f"Tool '{name}' is not supported by this client")
        if not isinstance(timeout_ms, (int, float)) or timeout_ms < 0:
            return failure("invalid_parameters", "timeoutMs must be a number of milliseconds")
        try:
            # The clock of wait_for cancels the coroutine; a tool's own TimeoutError is an execution error.
            async with asyncio.timeout(timeout_ms / 1000) as clock:
                return {"success": True, "result": await tool.run(**tool.check(parameters))}
        except InvalidParameters as error:
            return failure("invalid_parameters", str(error))
        except Exception as error:
            if clock.expired():
                return failure("timeout", f"Tool execution exceeded timeout of {timeout_ms}ms")
            return failure("execution_error", str(error) or type(error).__name__)

    def on_tool_cancel(self, body: dict) -> None:
        request_id = body.get("id")
        if call := self.calls.get(request_id):
            # Not at once: a task that is cancelled before its first step never gets to send its result.
            asyncio.get_running_loop().call_soon(call.cancel)
        elif isinstance(request_id, str) and request_id not in self.results:
            # A cancel can overtake a long request, which comes as a stream.
            self.keep(request_id, {"id": request_id, **failure("cancelled", "The call was cancelled")})

    def spawn(self, work: Any) -> asyncio.Task:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


def fetch_token(worker: str, room: str, identity: str) -> tuple[str, str]:
    """POST /token of the worker's HTTP server."""
    headers = {"content-type": "application/json"}
    if secret := os.environ.get("TOKEN_SECRET"):
        headers["authorization"] = f"Bearer {secret}"
    data = json.dumps({"room": room, "identity": identity}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{worker}/token", data, headers), timeout=10) as response:
            answer = json.load(response)
        return answer["livekitUrl"], answer["token"]
    except urllib.error.HTTPError as error:
        raise Unreachable(f"{worker}/token answered {error.code}: {error.read(500).decode(errors='replace')}") from error
    except OSError as error:
        raise Unreachable(f"no worker at {worker}: start one with npm start, or name it with --worker") from error
    except (KeyError, TypeError, ValueError) as error:
        raise Unreachable(f"{worker}/token gave no token: is this Parley's HTTP server?") from error


async def run(options: argparse.Namespace) -> int:
    if options.token:
        url, token = options.url, options.token
    else:
        url, token = await asyncio.to_thread(fetch_token, options.worker, options.room, options.identity)
    client = ParleyClient(tools_of(options.folder), announces=not options.no_announce)
    try:
        await client.join(url, token)
    except rtc.ConnectError as error:
        raise Unreachable(f"no room to join at {url}: {error}") from error
    try:
        async with asyncio.timeout(options.timeout):
            await client.configured.wait()
        if options.say is not None:
            async with asyncio.timeout(options.timeout):
                return 0 if await client.say(options.say) else 1
        log("ready: one message a line; /rejoin leaves and comes back; /quit ends")
        while line := (await asyncio.to_thread(sys.stdin.readline)):
            if line.strip() == "/quit":
                break
            if line.strip() == "/rejoin":
                await client.leave()
                await client.join(url, token)
            elif line.strip():
                client.say(line.strip())
        return 0
    except TimeoutError:
        log("the worker did not answer in time")
        return 1
    finally:
        await client.leave()


def main() -> int:
    parser = argparse.ArgumentParser(description="A Parley client in Python.")
    parser.add_argument("--worker", default="http://127.0.0.1:8080", help="the worker's HTTP server, for a token")
    parser.add_argument("--room", default="python")
    parser.add_argument("--identity", default="python")
    parser.add_argument("--url", default="ws://127.0.0.1:7880", help="LiveKit, with --token")
    parser.add_argument("--token", help="a LiveKit token of your own; nothing is fetched then")
    parser.add_argument("--folder", type=Path, default=Path("."), help="what the tools may read")
    parser.add_argument("--no-announce", action="store_true", help="announce no tools: the worker asks for its own")
    parser.add_argument("--say", help="say this, print the answer, and exit with 0, or 1 when there was none")
    parser.add_argument("--timeout", type=float, default=60, help="seconds, with --say")
    try:
        return asyncio.run(run(parser.parse_args()))
    except Unreachable as error:
        log(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
