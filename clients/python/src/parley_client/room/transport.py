"""Sends and receives frames in one LiveKit room. Never joins or leaves the room."""

import atexit
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from livekit import rtc

from ..limits import ENVELOPE_BYTES, TOPIC
from ..tasks import Tasks

# This sleep lets calls in progress finish before the interpreter exits. LiveKit's threads call into Python, mostly to
# log. LiveKit's exit handler stops new calls, but does not wait for calls in progress. Before Python 3.14, a thread
# that needs the GIL while the interpreter finalizes aborts the process. The sleep releases the GIL, and must run after
# LiveKit's handler. Exit handlers run in reverse order, and LiveKit registers its handler with the program's first
# room, so this module must be imported before that.
_LAST_CALLS_S = 0.1
atexit.register(time.sleep, _LAST_CALLS_S)

Way = Literal["packet", "stream"]


@dataclass(frozen=True)
class Peer:
    """Another participant, as LiveKit reports it."""

    identity: str
    is_agent: bool
    is_gone: bool = False
    """Whether this agent no longer serves the room, or only publishes for another agent."""


class Listener(Protocol):
    """The methods that a transport calls. None of them may raise."""

    def on_frame(self, frame: bytes, sender: Peer | None) -> None:
        """Called for each frame. `sender` is None until LiveKit has announced the sender, which takes up to 3 s if the
        sender has no tracks."""

    def on_joined(self, peer: Peer) -> None: ...

    def on_left(self, peer: Peer) -> None: ...

    def on_changed(self, peer: Peer) -> None:
        """Called when another participant's attributes have changed."""

    def on_connected(self) -> None:
        """Called when this client has joined the room, for the first time or again. The client has missed everything
        that was sent before."""

    def on_disconnected(self) -> None: ...


class Transport(Protocol):
    @property
    def is_connected(self) -> bool: ...

    @property
    def room_name(self) -> str: ...

    @property
    def peers(self) -> Sequence[Peer]: ...

    async def send(self, frame: bytes, way: Way, to: Sequence[str]) -> None: ...

    async def call_method(self, method: str, identity: str) -> None:
        """Calls one of a participant's remote methods (LiveKit's RPC). Raises if the method fails, or if the
        participant does not have it. Only needed for `start_turn`, `end_turn` and `cancel_turn`."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Sets the only listener. The returned function removes it."""


class RoomTransport:
    def __init__(self, room: rtc.Room) -> None:
        self._room = room

    @property
    def is_connected(self) -> bool:
        return self._room.isconnected()

    @property
    def room_name(self) -> str:
        return self._room.name

    @property
    def peers(self) -> list[Peer]:
        return [_to_peer(participant) for participant in self._room.remote_participants.values()]

    async def send(self, frame: bytes, way: Way, to: Sequence[str]) -> None:
        local, identities = self._room.local_participant, list(to)
        if way == "packet":
            await local.publish_data(frame, reliable=True, topic=TOPIC, destination_identities=identities)
            return
        writer = await local.stream_bytes(
            "envelope", total_size=len(frame), topic=TOPIC, destination_identities=identities
        )
        await writer.write(frame)
        await writer.aclose()

    async def call_method(self, method: str, identity: str) -> None:
        await self._room.local_participant.perform_rpc(destination_identity=identity, method=method, payload="")

    def listen(self, listener: Listener) -> Callable[[], None]:
        room, tasks = self._room, Tasks()
        was_connected = self.is_connected

        def on_state(_state: object) -> None:
            nonlocal was_connected
            if not was_connected and self.is_connected:
                was_connected = True
                listener.on_connected()

        def on_disconnected(*_reason: object) -> None:
            nonlocal was_connected
            was_connected = False
            listener.on_disconnected()

        def on_data(packet: rtc.DataPacket) -> None:
            if packet.topic in (None, "", TOPIC):
                listener.on_frame(bytes(packet.data), _to_peer(packet.participant) if packet.participant else None)

        async def read(reader: rtc.ByteStreamReader, sender: str) -> None:
            frame = await _read(reader)
            if frame is not None:
                participant = room.remote_participants.get(sender)
                listener.on_frame(frame, _to_peer(participant) if participant else None)

        def on_stream(reader: rtc.ByteStreamReader, sender: str) -> None:
            tasks.spawn(read(reader, sender))

        handlers: dict[Any, Callable[..., None]] = {
            "participant_connected": lambda participant: listener.on_joined(_to_peer(participant)),
            "participant_attributes_changed": lambda _changed, participant: listener.on_changed(_to_peer(participant)),
            "participant_disconnected": lambda participant: listener.on_left(_to_peer(participant)),
            "connection_state_changed": on_state,
            "reconnected": listener.on_connected,
            "disconnected": on_disconnected,
            "data_received": on_data,
        }
        for event, handler in handlers.items():
            room.on(event, handler)
        room.register_byte_stream_handler(TOPIC, on_stream)

        def stop() -> None:
            for event, handler in handlers.items():
                room.off(event, handler)
            room.unregister_byte_stream_handler(TOPIC)
            tasks.cancel()

        return stop


async def _read(reader: rtc.ByteStreamReader) -> bytes | None:
    """Returns None for a stream that was cut off, or that exceeds the maximum size of an envelope. The next
    Configuration's `last_sequence_seen` makes the worker resend the message."""
    frame = bytearray()
    try:
        async for chunk in reader:
            if len(frame) <= ENVELOPE_BYTES:
                frame += chunk
    except rtc.StreamError:
        return None
    return bytes(frame) if len(frame) <= ENVELOPE_BYTES else None


def _to_peer(participant: rtc.RemoteParticipant) -> Peer:
    is_agent = participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
    attributes = participant.attributes
    is_gone = attributes.get("parley.agent.state") == "gone" or bool(attributes.get("lk.publish_on_behalf"))
    return Peer(participant.identity, is_agent, is_gone)
