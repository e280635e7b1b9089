"""Tracks which agents serve the room, and whether they have acknowledged this client."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import Unavailable
from ..tasks import Tasks
from .transport import Peer, Way

CONFIGURE_AGAIN_S = 3.0
"""How many seconds to wait for the Ack of a Configuration before it is resent. The wait doubles with each attempt."""
MAX_CONFIGURE_AGAIN_S = 30.0

LossReason = Literal["room", "agent"]


@dataclass(frozen=True)
class LinkPorts:
    configure: Callable[[Way, float], Awaitable[bool]]
    """Sends the Configuration to the agents. Returns whether one of them acknowledged it within this many seconds."""
    on_ready: Callable[[], None]
    on_lost: Callable[[LossReason], None]


class AgentLink:
    """Sends the Configuration for each new agent, after each reconnect, and whenever the tools change. The link is
    ready once an agent has acknowledged the latest Configuration."""

    def __init__(self, ports: LinkPorts) -> None:
        self._ports = ports
        self._agents: dict[str, None] = {}
        self._state: Literal["away", "configuring", "ready", "closed"] = "away"
        self._settled = asyncio.Event()  # ready or closed
        self._tasks = Tasks()
        self._is_change_queued = False
        self.is_known = False
        """Whether an agent has acknowledged a Configuration since the last time that this client or an agent joined.
        The agent then recognizes this client's packets, even before LiveKit announces the client."""

    @property
    def is_ready(self) -> bool:
        return self._state == "ready"

    @property
    def agents(self) -> list[str]:
        return list(self._agents)

    def enter(self, peers: Sequence[Peer]) -> None:
        """Called when this client has joined the room, for the first time or again."""
        self._agents = {peer.identity: None for peer in peers if _is_serving(peer)}
        if self._agents:
            self._configure("stream", is_news=True)
        else:
            self._lose("agent")

    def leave(self) -> None:
        self._agents = {}
        self._lose("room")

    def see(self, peer: Peer) -> None:
        """Called when a participant has joined or changed."""
        if not _is_serving(peer):
            self.remove(peer.identity)
        elif peer.identity not in self._agents:
            self._agents[peer.identity] = None
            self._configure("stream", is_news=True)

    def remove(self, identity: str) -> None:
        if identity in self._agents:
            del self._agents[identity]
            if not self._agents:
                self._lose("agent")

    def change(self) -> None:
        """Announces changed tools. Several changes in the same tick are announced together."""
        if not self._agents or self._is_change_queued or self._state == "closed":
            return
        self._is_change_queued = True
        is_first = self._state == "configuring"
        self._set("configuring")
        asyncio.get_running_loop().call_soon(self._announce_change, is_first)

    async def when_ready(self, timeout: float) -> None:
        """Waits until the link is ready. Raises Unavailable after this many seconds, or on `close`."""
        try:
            async with asyncio.timeout(timeout):
                await self._settled.wait()
        except TimeoutError:
            raise Unavailable(f"No agent answered in the room within {timeout:g} s") from None
        if self._state == "closed":
            raise Unavailable("The client was closed")

    async def close(self) -> None:
        self._agents = {}
        self._set("closed")
        await self._tasks.close()

    def _announce_change(self, is_first: bool) -> None:
        self._is_change_queued = False
        if self._state == "configuring":
            self._configure("stream" if is_first else "packet", is_news=is_first)

    def _configure(self, way: Way, is_news: bool) -> None:
        if self._state == "closed":
            return
        if is_news:
            self.is_known = False
        self._tasks.cancel()  # earlier attempts
        self._set("configuring")
        self._tasks.spawn(self._configure_until_taken(way, is_news))

    async def _configure_until_taken(self, way: Way, is_news: bool) -> None:
        timeout = CONFIGURE_AGAIN_S
        while not await self._ports.configure(way, timeout):
            timeout = min(timeout * 2, MAX_CONFIGURE_AGAIN_S)
        self.is_known = True
        self._set("ready")
        if is_news:
            self._ports.on_ready()

    def _lose(self, reason: LossReason) -> None:
        self._tasks.cancel()
        self.is_known = False
        if self._state not in ("away", "closed"):
            self._set("away")
            self._ports.on_lost(reason)

    def _set(self, state: Literal["away", "configuring", "ready", "closed"]) -> None:
        self._state = state
        if state in ("ready", "closed"):
            self._settled.set()
        else:
            self._settled.clear()


def _is_serving(peer: Peer) -> bool:
    return peer.is_agent and not peer.is_gone
