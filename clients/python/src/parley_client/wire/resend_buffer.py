"""Messages that may have to be resent."""

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

MAX_MESSAGES = 512
MAX_BYTES = 32 * 1024 * 1024
"""The maximum total size: enough for 8 messages of the maximum size. The worker rejects streams whose total size is too
large."""
MAX_TRIES = 8
"""How many times a message is sent in total before it is dropped."""
MAX_AT_ONCE = 40
"""How many messages are resent before a pause of `PAUSE_S`: fewer than the worker accepts per second from one
participant."""
PAUSE_S = 1.0


class SentMessage(Protocol):
    stanza_id: int
    frame: bytes
    tries: int


Message = TypeVar("Message", bound=SentMessage)


class ResendBuffer(Generic[Message]):
    """Messages that were sent but not acknowledged yet, oldest first. If a worker receives too many messages, it drops
    some, and specifies when to resend them (error 429). Messages keep their numbers, so none is handled twice."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._messages: dict[int, Message] = {}
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, message: Message) -> None:
        """Adds a message. If there are too many, the oldest are dropped."""
        self.forget(message.stanza_id)
        self._messages[message.stanza_id] = message
        self._bytes += len(message.frame)
        while len(self._messages) > MAX_MESSAGES or self._bytes > MAX_BYTES:
            self.forget(next(iter(self._messages)))

    def forget(self, stanza_id: int) -> None:
        message = self._messages.pop(stanza_id, None)
        if message:
            self._bytes -= len(message.frame)

    def send_again_after(self, seconds: float) -> None:
        """After the given time, resends all messages that are still unacknowledged, in order."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._send_again)

    def clear(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None
        self._messages.clear()
        self._bytes = 0

    def _send_again(self) -> None:
        self._timer = None
        waiting = list(self._messages.values())
        for message in waiting[:MAX_AT_ONCE]:
            message.tries += 1
            if message.tries >= MAX_TRIES:
                self.forget(message.stanza_id)
            self._send(message)
        if len(waiting) > MAX_AT_ONCE:
            self.send_again_after(PAUSE_S)
