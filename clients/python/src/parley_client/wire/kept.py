"""Messages that the worker may ask for again."""

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

MAX_KEPT = 512
MAX_KEPT_BYTES = 32 * 1024 * 1024
"""The bytes of 8 messages of the largest size: the worker refuses streams that hold too much together."""
MAX_TRIES = 8
"""A message is sent this often in all; after that it is given up."""
MAX_AT_ONCE = 40
"""Messages per pause; fewer than the worker takes from one participant in a second."""
PAUSE_S = 1.0


class KeptMessage(Protocol):
    stanza_id: int
    frame: bytes
    tries: int


Message = TypeVar("Message", bound=KeptMessage)


class Kept(Generic[Message]):
    """Messages that were sent and not acknowledged yet, the oldest first. A worker that gets too many messages from us
    drops some, and says when to send them again (error 429). They keep their numbers, so none is handled twice."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._messages: dict[int, Message] = {}
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, message: Message) -> None:
        """When too many are kept, the oldest are dropped."""
        self.forget(message.stanza_id)
        self._messages[message.stanza_id] = message
        self._bytes += len(message.frame)
        while len(self._messages) > MAX_KEPT or self._bytes > MAX_KEPT_BYTES:
            self.forget(next(iter(self._messages)))

    def forget(self, stanza_id: int) -> None:
        message = self._messages.pop(stanza_id, None)
        if message:
            self._bytes -= len(message.frame)

    def send_again_after(self, seconds: float) -> None:
        """Sends again, in order, all messages that are still not acknowledged then."""
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
