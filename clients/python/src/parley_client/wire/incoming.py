"""Agents' frames, on their way in."""

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ParleyError
from ..kept_newest import keep_newest
from ..messages import ToolUseRequest
from .codec import Envelope, MalformedMessage, decode

REMEMBERED_STANZAS = 2_000


@dataclass(frozen=True)
class IncomingPorts:
    on_message: Callable[[Envelope], None]
    on_malformed_request: Callable[[MalformedMessage], None]
    """Nothing is run, and the worker must be told."""
    on_error: Callable[[ParleyError], None]


class IncomingMessages:
    """Hands on each message once; a request again each time that it comes, since it wants its answer again."""

    def __init__(self, ports: IncomingPorts) -> None:
        self._ports = ports
        self._seen: dict[tuple[int, str], None] = {}
        self._last_seen = 0
        self._first_missed: int | None = None

    @property
    def last_sequence_seen(self) -> int | None:
        """For our next Configuration: the worker sends again what follows this number."""
        if self._first_missed is not None:
            return self._first_missed - 1
        return self._last_seen or None

    def forget_missed(self) -> None:
        """A worker has acknowledged a Configuration, and so knows `last_sequence_seen`."""
        self._first_missed = None

    def miss(self, frame: bytes) -> None:
        """Takes a frame whose sender LiveKit has not announced, most often the agent's first. Its content is not
        trusted and not kept: once the agent is announced, our Configuration asks for it again."""
        try:
            envelope = decode(frame)
        except MalformedMessage:
            return
        if envelope.stanza_id < 0:
            self._first_missed = min(self._first_missed or -envelope.stanza_id, -envelope.stanza_id)

    def handle(self, frame: bytes, sender: str) -> None:
        try:
            envelope = decode(frame)
        except MalformedMessage as problem:
            is_news = self._take(problem.stanza_id, sender)
            if problem.is_tool_request:
                self._ports.on_malformed_request(problem)
            if is_news:
                self._ports.on_error(problem)
            return
        is_news = self._take(envelope.stanza_id, sender)
        if is_news or isinstance(envelope.body, ToolUseRequest):
            self._ports.on_message(envelope)

    def _take(self, stanza_id: int, sender: str) -> bool:
        """False for a repeated message. Acks have the number 0."""
        if stanza_id == 0:
            return True
        key = (abs(stanza_id), sender)
        if key in self._seen:
            return False
        self._seen[key] = None
        keep_newest(self._seen, REMEMBERED_STANZAS)
        self._last_seen = max(self._last_seen, abs(stanza_id))
        return True
