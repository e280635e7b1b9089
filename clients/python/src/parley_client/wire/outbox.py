"""Outgoing messages."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ParleyError, QueueOverflow, Unavailable
from ..limits import PACKET_BYTES
from ..messages import Acknowledgement, Body, Configuration, Json
from ..room.transport import Way
from ..tasks import Tasks
from .codec import encode
from .resend_buffer import ResendBuffer

SEND_DEADLINE_S = 10.0
"""How many seconds a send may take before it counts as failed. During an outage, a send hangs until the outage ends."""
ID_FIELDS = ("id", "permission_id", "target_id")
"""The fields that the worker's ErrorMessage may use to refer to a message."""
IN_FLIGHT = 8
MAX_QUEUED = 1_000

ACKNOWLEDGED_WITHIN_S = 5.0
"""How many seconds to wait for an Ack before the same stanza is resent as a stream. A stream names its sender."""
DELIVERED_WITHIN_S = 60.0


@dataclass
class Sent:
    """A numbered message. Only an Ack proves that it arrived."""

    stanza_id: int
    frame: bytes
    message_id: str | None
    way: Way
    is_repeatable: bool
    tries: int = 1
    acked: "asyncio.Future[bool]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(frozen=True)
class OutboxPorts:
    conversation_id: Callable[[], str]
    publish: Callable[[bytes, Way], Awaitable[None]]
    when_ready: Callable[[float], Awaitable[None]]
    """Waits until a worker has acknowledged this client. Raises Unavailable after the given number of seconds."""
    has_agent: Callable[[], bool]


class Outbox:
    """Numbers messages from 1, and starts sending them in order."""

    def __init__(self, ports: OutboxPorts) -> None:
        self._ports = ports
        self._last_stanza = 0
        self._unsent = 0
        self._all_sent = asyncio.Event()
        self._all_sent.set()
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._resend_buffer = ResendBuffer(self._transmit)
        self._waiting: dict[int, Sent] = {}
        self._interruption: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks = Tasks()

    def prepare(self, body: Body, way: Way = "packet", traceparent: str | None = None) -> Sent:
        """Assigns a message its number (0 for an Ack) and encodes it. Raises TooLarge, or Internal for a value that
        cannot be sent."""
        meta: Json = {} if traceparent is None else {"traceparent": traceparent}
        is_ack = isinstance(body, Acknowledgement)
        stanza_id = 0 if is_ack else self._last_stanza + 1
        frame = encode(stanza_id, self._ports.conversation_id(), body, meta)
        self._last_stanza = stanza_id or self._last_stanza
        return Sent(
            stanza_id,
            frame,
            message_id=next((getattr(body, name) for name in ID_FIELDS if getattr(body, name, None)), None),
            way="stream" if len(frame) > PACKET_BYTES else way,
            # AgentLink resends a Configuration itself, with the current tools. The outbox must not send an older one
            # after it.
            is_repeatable=not is_ack and not isinstance(body, Configuration),
        )

    def post(self, body: Body) -> None:
        """Sends a message once. Resends it only if the worker reports that the rate limit was exceeded."""
        self._begin(self.prepare(body))

    async def send_and_wait(self, sent: Sent, timeout: float) -> bool:
        """Returns whether an Ack arrived within `timeout` seconds and before an interruption."""
        self._waiting[sent.stanza_id] = sent
        try:
            self._begin(sent)
            ends: set[asyncio.Future[Any]] = {sent.acked, self._interruption}
            await asyncio.wait(ends, timeout=timeout, return_when="FIRST_COMPLETED")
            return sent.acked.done() and sent.acked.result()
        finally:
            self._waiting.pop(sent.stanza_id, None)

    async def deliver(self, sent: Sent, at_once: bool = False) -> None:
        """Resends a message, with the same number, until it is acknowledged.

        at_once: send the message even if no worker has acknowledged the latest tools yet.
        Raises Unavailable after 60 s or on `close`, and the worker's error if the worker rejected the message.
        """
        try:
            async with asyncio.timeout(DELIVERED_WITHIN_S):
                while not sent.acked.done():
                    if not (at_once and self._ports.has_agent()):
                        await self._ports.when_ready(DELIVERED_WITHIN_S)
                    at_once = False
                    if await self.send_and_wait(sent, ACKNOWLEDGED_WITHIN_S):
                        return
                    sent.way = "stream"
        except TimeoutError:
            raise Unavailable(f"The worker did not acknowledge within {DELIVERED_WITHIN_S:g} s") from None
        finally:
            self._resend_buffer.forget(sent.stanza_id)
        raise Unavailable("The worker rejected the message")

    def repeat(self, sent: Sent) -> None:
        """Resends a message now."""
        self._begin(sent)

    def acknowledge(self, stanza_id: int, is_taken: bool) -> None:
        number = abs(stanza_id)
        self._resend_buffer.forget(number)
        sent = self._waiting.get(number)
        if sent and not sent.acked.done():
            sent.acked.set_result(is_taken)

    def refuse(self, message_id: str, error: ParleyError) -> None:
        """Handles the worker's error for a message, which is then not resent."""
        for sent in self._waiting.values():
            if sent.message_id == message_id and not sent.acked.done():
                sent.acked.set_exception(error)

    def send_again_after(self, seconds: float) -> None:
        self._resend_buffer.send_again_after(seconds)

    def interrupt(self) -> None:
        """Called when the worker or this client has left the room. Messages in delivery are resent once a worker has
        acknowledged this client."""
        self._resend_buffer.clear()
        self._interruption.set_result(None)
        self._interruption = asyncio.get_running_loop().create_future()

    async def drain(self, timeout: float) -> None:
        """Waits until everything has been sent."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._all_sent.wait()

    async def close(self) -> None:
        self._resend_buffer.clear()
        await self._tasks.close()

    def _begin(self, sent: Sent) -> None:
        if sent.is_repeatable:
            self._resend_buffer.add(sent)
        self._transmit(sent)

    def _transmit(self, sent: Sent) -> None:
        if self._unsent >= MAX_QUEUED:
            if not sent.acked.done() and sent.stanza_id in self._waiting:
                sent.acked.set_exception(QueueOverflow("Too many messages are waiting to be sent"))
            return
        self._unsent += 1
        self._all_sent.clear()
        self._tasks.spawn(self._publish(sent))

    async def _publish(self, sent: Sent) -> None:
        try:
            # Errors are ignored, because only an Ack counts: `deliver` resends until it receives one.
            with contextlib.suppress(Exception):
                async with self._slots, asyncio.timeout(SEND_DEADLINE_S):
                    await self._ports.publish(sent.frame, sent.way)
        finally:
            self._unsent -= 1
            if self._unsent == 0:
                self._all_sent.set()
