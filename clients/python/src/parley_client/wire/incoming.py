"""Agents' frames, on their way in."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ParleyError
from ..kept_newest import keep_newest
from ..messages import Acknowledgement, Configuration, ToolUseRequest
from .codec import Envelope, MalformedMessage, decode

REMEMBERED_STANZAS = 2_000
HOLD_S = 3
"""A worker reads what we have missed from its database within 2 s."""


@dataclass(frozen=True)
class IncomingPorts:
    on_message: Callable[[Envelope], None]
    on_malformed_request: Callable[[MalformedMessage], None]
    """Called with a message that cannot be used: nothing is run, and the worker must be told."""
    on_error: Callable[[ParleyError], None]


class IncomingMessages:
    """Hands on each message once; a request again each time that it comes, since it wants its answer again."""

    def __init__(self, ports: IncomingPorts) -> None:
        self._ports = ports
        self._seen: dict[tuple[int, str], None] = {}
        self._last_seen = 0
        self._agent: str | None = None
        """The agent that has sent the last frame."""
        self._sure_until: int | None = None
        """After this number we may have missed something, of earlier agents or from before the agent was announced."""
        self._asked = 0
        self._is_told = False
        """Whether the worker has acknowledged what we asked for."""
        self._held: dict[int, Envelope] = {}
        """Messages held by number since we may have missed some: those come later, but are handed on first."""
        self._holding: asyncio.TimerHandle | None = None

    def tell_last_seen(self) -> int | None:
        """For the Configuration that is sent now: the worker sends again what follows this number."""
        if self._sure_until is not None:
            self._hold()
            return self._sure_until
        return self._last_seen or None

    def note_sent(self, stanza_id: int) -> None:
        """The Configuration with what `tell_last_seen` gave is on its way. After its Ack comes what we have missed, and
        then the worker's Configuration."""
        self._asked = stanza_id

    def note_lost(self) -> None:
        """We have lost the connection or the agent, or LiveKit has connected us again."""
        if self._last_seen:
            self._doubt(self._last_seen)

    def miss(self, frame: bytes) -> None:
        """Takes a frame whose sender LiveKit has not announced, most often the agent's first. Its content is not
        trusted and not kept: once the agent is announced, our Configuration asks for it again."""
        try:
            envelope = decode(frame)
        except MalformedMessage:
            return
        if envelope.stanza_id < 0:
            self._doubt(-envelope.stanza_id - 1)

    def handle(self, frame: bytes, sender: str) -> None:
        try:
            envelope = decode(frame)
        except MalformedMessage as problem:
            is_news = self._take(abs(problem.stanza_id), sender)
            if problem.is_tool_request:
                self._ports.on_malformed_request(problem)
            if is_news:
                self._ports.on_error(problem)
            return
        number = abs(envelope.stanza_id)
        is_newest = number > self._last_seen
        is_news = self._take(number, sender)
        # What arrives again replaces it now.
        is_held = self._held.pop(number, None) is not None
        if not (is_news or is_held or isinstance(envelope.body, ToolUseRequest)):
            return
        if isinstance(envelope.body, Acknowledgement) and envelope.body.acknowledged_stanza_id == self._asked:
            self._is_told = True
        is_configuration = isinstance(envelope.body, Configuration)
        # One that is not the newest is among what we have missed.
        if self._is_told and is_configuration and is_newest:
            self._sure_until = None
            self._release()
        if self._holding and number > 0 and not is_configuration:
            self._held[number] = envelope
        else:
            self._ports.on_message(envelope)

    def close(self) -> None:
        """Drops the messages that are held."""
        if self._holding:
            self._holding.cancel()
        self._holding = None
        self._held = {}

    def _take(self, number: int, sender: str) -> bool:
        """False for a repeated message. Acks have the number 0."""
        if self._agent is not None and self._agent != sender:
            # It may send something new before it sends what the earlier worker did not.
            self._doubt(self._last_seen)
        self._agent = sender
        if number == 0:
            return True
        key = (number, sender)
        if key in self._seen:
            return False
        self._seen[key] = None
        keep_newest(self._seen, REMEMBERED_STANZAS)
        self._last_seen = max(self._last_seen, number)
        return True

    def _doubt(self, after: int) -> None:
        self._sure_until = after if self._sure_until is None else min(self._sure_until, after)
        self._is_told = False
        if not self._holding:
            self._hold()

    def _hold(self) -> None:
        if self._holding:
            self._holding.cancel()
        self._holding = asyncio.get_running_loop().call_later(HOLD_S, self._release)

    def _release(self) -> None:
        held = self._held
        self.close()
        for envelope in held.values():
            self._ports.on_message(envelope)
