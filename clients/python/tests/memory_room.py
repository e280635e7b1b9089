"""A stand-in for the worker: a room in memory whose agent acknowledges the messages that it receives."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, Unpack

from parley_client import Parley, Peer, Tool, connect
from parley_client.connecting import ClientOptions
from parley_client.messages import (
    Acknowledgement,
    Body,
    Configuration,
    Json,
    ToolUseRequest,
    ToolUseResult,
)
from parley_client.room.transport import Listener, Way
from parley_client.wire.codec import decode, encode

AGENT = Peer("agent-1", is_agent=True)

Message = TypeVar("Message", bound=Body)


@dataclass
class Heard:
    stanza_id: int
    conversation_id: str
    meta: Json
    body: Body
    way: Way
    to: Sequence[str]


@dataclass
class MemoryRoom:
    """A transport whose peer is the test."""

    room_name: str = "conv_ac_1"
    has_agent: bool = True
    acknowledges: bool = True
    is_connected: bool = True
    fails: bool = False
    heard: list[Heard] = field(default_factory=list)
    methods: list[tuple[str, str]] = field(default_factory=list)
    """The remote methods that the client has called, each with the identity of its participant."""
    listener: Listener | None = None

    def __post_init__(self) -> None:
        self.peers = [AGENT] if self.has_agent else []
        self._stanzas = itertools.count(-1, -1)
        self._news = asyncio.Event()

    # Used by the client.

    async def send(self, frame: bytes, way: Way, to: Sequence[str]) -> None:
        if not self.is_connected or self.fails:
            raise ConnectionError("nothing can be sent")
        envelope = decode(frame)
        assert envelope.body is not None
        self.heard.append(
            Heard(envelope.stanza_id, envelope.conversation_id, envelope.meta, envelope.body, way, list(to))
        )
        self._news.set()
        if self.acknowledges and not isinstance(envelope.body, Acknowledgement):
            sender = next((peer for peer in self.peers if peer.identity in to), AGENT)
            asyncio.get_running_loop().call_soon(self.acknowledge, envelope.stanza_id, True, sender)

    async def call_method(self, method: str, identity: str) -> None:
        if self.fails:
            raise ConnectionError("Another participant is speaking")
        self.methods.append((method, identity))

    def listen(self, listener: Listener) -> Callable[[], None]:
        self.listener = listener

        def stop() -> None:
            self.listener = None

        return stop

    # Used by the test.

    def acknowledge(self, stanza_id: int, success: bool = True, sender: Peer = AGENT) -> None:
        self.say(Acknowledgement(acknowledged_stanza_id=stanza_id, success=success), stanza_id=0, sender=sender)

    def say(self, body: Body, *, stanza_id: int | None = None, sender: Peer | None = AGENT, meta: Any = None) -> int:
        number = next(self._stanzas) if stanza_id is None else stanza_id
        self.say_bytes(encode(number, "ac_1", body, meta), sender)
        return number

    def say_bytes(self, frame: bytes, sender: Peer | None = AGENT) -> None:
        if self.listener:
            self.listener.on_frame(frame, sender)

    def request(self, request_id: str, parameters: Json | None = None, **fields: Any) -> int:
        """Sends a request for the tool `echo`, to be run by the client."""
        request = {"message_id": "m1", "tool_name": "echo", "execution": "client"} | fields
        return self.say(ToolUseRequest(id=request_id, parameters=parameters or {}, **request))

    def all(self, kind: type[Message]) -> list[Message]:
        return [heard.body for heard in self.heard if isinstance(heard.body, kind)]

    def results(self, request_id: str) -> list[ToolUseResult]:
        return [result for result in self.all(ToolUseResult) if result.id == request_id]

    async def result(self, request_id: str) -> ToolUseResult:
        await self.until(lambda: bool(self.results(request_id)))
        return self.results(request_id)[0]

    async def until(self, condition: Callable[[], bool], timeout: float = 2) -> None:
        async with asyncio.timeout(timeout):
            while not condition():
                self._news.clear()
                await self._news.wait()

    def disconnect(self) -> None:
        self.is_connected = False
        assert self.listener
        self.listener.on_disconnected()

    def connect(self) -> None:
        self.is_connected = True
        assert self.listener
        self.listener.on_connected()

    def join(self, peer: Peer = AGENT) -> None:
        self.peers.append(peer)
        assert self.listener
        self.listener.on_joined(peer)

    def change(self, peer: Peer) -> None:
        """Changes a participant's attributes."""
        self.peers = [peer if each.identity == peer.identity else each for each in self.peers]
        assert self.listener
        self.listener.on_changed(peer)

    def leave(self, peer: Peer = AGENT) -> None:
        self.peers.remove(peer)
        assert self.listener
        self.listener.on_left(peer)

    @property
    def tools(self) -> list[list[str] | None]:
        """Returns the names of the tools in each Configuration."""
        configurations = self.all(Configuration)
        return [None if each.tools is None else [tool["name"] for tool in each.tools] for each in configurations]


@asynccontextmanager
async def opened(
    tools: Iterable[Tool] = (), **options: Unpack[ClientOptions]
) -> AsyncIterator[tuple[MemoryRoom, Parley]]:
    """Opens a connected client in its own room."""
    room = MemoryRoom()
    async with await connect(room, tools, **options) as parley:
        yield room, parley


async def settled() -> None:
    """Waits until every task is done or waits for a timer or a thread."""
    for _ in range(100):
        await asyncio.sleep(0)
