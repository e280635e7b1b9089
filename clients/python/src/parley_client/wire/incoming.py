"""Incoming frames from agents."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ParleyError
from ..evict_oldest import evict_oldest
from ..messages import Acknowledgement, Configuration, ToolUseRequest
from .codec import Envelope, MalformedMessage, decode

REMEMBERED_STANZAS = 2_000
HOLD_S = 3
"""How many seconds messages are held back while others may be missing. A worker takes up to 2 s to read missed messages
from its database."""


@dataclass(frozen=True)
class IncomingPorts:
    on_message: Callable[[Envelope], None]
    on_malformed_request: Callable[[MalformedMessage], None]
    """Called with an invalid request: no tool is run, and the worker must be notified."""
    on_error: Callable[[ParleyError], None]


class IncomingMessages:
    """Passes on each message once. Only a tool request is passed on each time it arrives, because each copy needs an
    answer."""

    def __init__(self, ports: IncomingPorts) -> None:
        self._ports = ports
        self._seen: dict[tuple[int, str], None] = {}
        self._last_seen = 0
        self._agent: str | None = None
        """The identity of the agent that sent the last frame."""
        self._sure_until: int | None = None
        """The number of the last message before a possible gap; None if nothing can be missing. A gap is possible after
        a lost connection or a change of agents, and before an agent is announced."""
        self._asked = 0
        self._is_configured = False
        """Whether the worker has acknowledged the request for missed messages."""
        self._held: dict[int, Envelope] = {}
        """Messages, by number, that are held back while earlier ones may be missing. If missed messages arrive, they
        are passed on first."""
        self._holding: asyncio.TimerHandle | None = None

    def tell_last_seen(self) -> int | None:
        """Returns the number that the next Configuration contains as `last_sequence_seen`. The worker resends the
        messages after this number."""
        if self._sure_until is not None:
            self._hold()
            return self._sure_until
        return self._last_seen or None

    def note_sent(self, stanza_id: int) -> None:
        """Called when the Configuration with the number from `tell_last_seen` is being sent. The worker replies with
        an Ack, then the missed messages, then its own Configuration."""
        self._asked = stanza_id

    def note_lost(self) -> None:
        """Called when the connection or the agent was lost, or when LiveKit has reconnected."""
        if self._last_seen:
            self._doubt(self._last_seen)

    def miss(self, frame: bytes) -> None:
        """Handles a frame whose sender LiveKit has not announced yet, usually the agent's first frame. Its content is
        neither trusted nor stored. Once the agent is announced, the Configuration requests the message again."""
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
        # A resent message replaces the earlier copy that was held back.
        is_held = self._held.pop(number, None) is not None
        if not (is_news or is_held or isinstance(envelope.body, ToolUseRequest)):
            return
        if isinstance(envelope.body, Acknowledgement) and envelope.body.acknowledged_stanza_id == self._asked:
            self._is_configured = True
        is_configuration = isinstance(envelope.body, Configuration)
        # If the Configuration is not the newest message, it is itself one of the missed messages.
        if self._is_configured and is_configuration and is_newest:
            self._sure_until = None
            self._release()
        if self._holding and number > 0 and not is_configuration:
            self._held[number] = envelope
        else:
            self._ports.on_message(envelope)

    def close(self) -> None:
        """Drops the messages held back."""
        if self._holding:
            self._holding.cancel()
        self._holding = None
        self._held = {}

    def _take(self, number: int, sender: str) -> bool:
        """Returns False for a repeated message. Acks have the number 0."""
        if self._agent is not None and self._agent != sender:
            # The new agent may send its own messages before the ones that the earlier agent left unsent.
            self._doubt(self._last_seen)
        self._agent = sender
        if number == 0:
            return True
        key = (number, sender)
        if key in self._seen:
            return False
        self._seen[key] = None
        evict_oldest(self._seen, REMEMBERED_STANZAS)
        self._last_seen = max(self._last_seen, number)
        return True

    def _doubt(self, after: int) -> None:
        self._sure_until = after if self._sure_until is None else min(self._sure_until, after)
        self._is_configured = False
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
