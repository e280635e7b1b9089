"""A client of a Parley worker in one room."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

from livekit import rtc

from . import ask as asking
from .attachment import Attachment
from .emitter import Emitter
from .errors import Internal, InvalidState, Malformed, ParleyError, Unavailable
from .events import EVENTS, Connected, Disconnected, ErrorEvent, PermissionClosed
from .known_names import WORKER_FEATURES, require_known
from .limits import ANNOUNCED_TOOLS, ID_LENGTH, LANGUAGE_TAG
from .messages import Body, Configuration, ControlStop, ControlVariation, ErrorMessage, PermissionWord, UserMessage
from .permissions import PermissionAnswer, PermissionHandler, PermissionPorts, Permissions, to_response
from .room.agent_link import AgentLink, LinkPorts, LossReason
from .room.transport import Peer, RoomTransport, Transport, Way
from .tasks import Tasks
from .tools.tool import Tool
from .tools.tool_requests import ToolRequestPorts, ToolRequests
from .version import __version__
from .wire.codec import MalformedMessage
from .wire.incoming import IncomingMessages, IncomingPorts
from .wire.outbox import Outbox, OutboxPorts, Sent
from .worker_messages import WorkerMessages

CLOSE_S = 1.0
FEATURES = ("claims", "tool_use_cancel", "tool_use_progress")

Event = TypeVar("Event")


@dataclass(frozen=True)
class Options:
    features: Sequence[str] = ()
    """Additional protocol features to request, such as `blocks`. The client requests some features itself."""
    language: str | None = None
    """The language that the participant prefers, as a BCP 47 tag."""
    device: Any = None
    """Anything about this device that the worker should receive."""
    announce: bool = True
    """If False, the tools are not announced. The worker then only requests tools that are defined in its own files and
    that a client may run."""
    on_permission: PermissionHandler | None = None
    listens: bool = True
    """Whether this client plays the agent's audio. While nobody in the room does, answers arrive as text,
    immediately."""

    def __post_init__(self) -> None:
        require_known(self.features, WORKER_FEATURES, "a feature")
        if self.language is not None and not LANGUAGE_TAG.fullmatch(self.language):
            raise TypeError(f'language: expected a BCP 47 tag such as en-GB, got "{self.language}"')


class Parley:
    """A client, created by `connect` or `join`. Never joins or leaves the room itself. Tools and running calls survive
    a reconnect. They also survive `rejoin`, which continues with another room object."""

    def __init__(self, transport: Transport, options: Options, tools: Iterable[Tool] = ()) -> None:
        self._transport = transport
        self._options = options
        self._tools: dict[str, Tool] = {}
        self._room_name = ""
        self._is_closed = False
        self._tasks = Tasks()
        self._events = Emitter(self._on_handler_failed)
        self._link = AgentLink(LinkPorts(self._configure, self._on_ready, self._on_lost))
        self._outbox = Outbox(
            OutboxPorts(
                conversation_id=self._conversation_id,
                publish=self._publish,
                when_ready=self._link.when_ready,
                has_agent=lambda: bool(self._link.agents),
            )
        )
        self._requests = ToolRequests(
            ToolRequestPorts(
                find_tool=self._tools.get,
                prepare=lambda result, traceparent: self._outbox.prepare(result, traceparent=traceparent),
                deliver=lambda sent: self._outbox.deliver(sent, at_once=True),
                repeat=self._outbox.repeat,
                post=self._outbox.post,
                on_event=self._events.emit,
            )
        )
        self._permissions = Permissions(
            options.on_permission,
            PermissionPorts(
                respond=self._respond,
                on_closed=lambda request_id, state: self._events.emit(PermissionClosed(request_id, state)),
                on_failure=lambda error: self._report(_to_parley_error("The permission handler failed", error)),
            ),
        )
        self._messages = WorkerMessages(self._outbox, self._requests, self._permissions, self._events)
        self._incoming = IncomingMessages(
            IncomingPorts(
                on_message=self._messages.handle,
                on_malformed_request=self._refuse,
                on_error=self._report,
            )
        )
        for tool in tools:  # before the first Configuration
            self.register_tool(tool)
        self._stop_listening = self._listen()

    @property
    def is_connected(self) -> bool:
        """Whether a worker has acknowledged this client and its tools."""
        return self._link.is_ready

    @property
    def is_answering(self) -> bool:
        return self._messages.is_answering

    @property
    def running_tool_count(self) -> int:
        return self._requests.running_count

    def register_tool(self, tool: Tool) -> Callable[[], None]:
        """Offers a tool to the model, now and after each reconnect. The returned function withdraws the tool;
        running calls continue. Raises ValueError if 64 tools, or a tool with this name, are already registered."""
        self._require_open()
        if len(self._tools) >= ANNOUNCED_TOOLS:
            raise ValueError(f"More than {ANNOUNCED_TOOLS} tools are registered")
        if tool.name in self._tools:
            raise ValueError(f'A tool named "{tool.name}" is already registered')
        self._tools[tool.name] = tool
        self._link.change()

        def withdraw() -> None:
            if not self._is_closed and self._tools.get(tool.name) is tool:
                del self._tools[tool.name]
                self._link.change()

        return withdraw

    def send_text(
        self, text: str, *, attachments: Sequence[Attachment] = (), traceparent: str | None = None
    ) -> asking.SentText:
        """Sends a message to the assistant. Waits for a worker if there is none, and resends the message until it is
        acknowledged. Raises ValueError if the text is blank and nothing is attached, and TooLarge if the total
        exceeds 4 MiB."""
        self._require_open()
        if not text.strip() and not attachments:
            raise ValueError("send_text: expected some text")
        message_id = create_id()
        attached = [attachment.to_json() for attachment in attachments] or None
        message = UserMessage(id=message_id, content=text, attachments=attached)
        # Numbered immediately, so that texts keep their order.
        sent = self._outbox.prepare(message, traceparent=traceparent)
        acknowledged = self._tasks.spawn(self._deliver(sent))
        acknowledged.add_done_callback(_retrieve)
        return asking.SentText(message_id, acknowledged)

    async def ask(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        timeout: float = 120,
        traceparent: str | None = None,
    ) -> asking.WholeAnswer:
        """Sends a text and waits for the whole answer. Canceling the waiting task stops the answer. Raises
        ParleyError if the turn failed, or Unavailable if no complete answer arrived in time."""
        question = asking.Question(text, attachments, traceparent)
        return await asking.ask(self, question, timeout=timeout)

    def stream(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        timeout: float = 120,
        traceparent: str | None = None,
    ) -> AsyncGenerator[str, None]:
        """Like `ask`, but yields each sentence of the answer as it arrives. Leaving the loop stops the answer."""
        question = asking.Question(text, attachments, traceparent)
        return asking.stream(self, question, timeout=timeout)

    def stop(
        self,
        target_id: str | None = None,
        *,
        reason: str | None = None,
        stop_type: Literal["generation", "speech", "all"] | None = None,
    ) -> None:
        """Stops the current answer, or the answer with the given id, and its tool calls."""
        if self._link.agents:
            self._outbox.post(ControlStop(target_id=target_id, reason=reason, stop_type=stop_type))

    async def start_turn(self) -> None:
        """Begins to speak, as with a push-to-talk button: from now on, the agent hears this client's microphone. For
        agents with `voice.turns: "manual"`, which otherwise hear nothing. Raises Unavailable without an agent, and
        InvalidState if another participant is speaking, or if the agent decides itself when turns start."""
        await self._call_agent("start_turn")

    async def end_turn(self) -> None:
        """Ends what `start_turn` has begun. The agent answers. Raises as `start_turn` does."""
        await self._call_agent("end_turn")

    async def cancel_turn(self) -> None:
        """Ends what `start_turn` has begun, and keeps nothing of it. Raises as `start_turn` does."""
        await self._call_agent("cancel_turn")

    async def cancel_call(self, call_id: str) -> None:
        """Cancels one tool call by the `id` of its request or ToolCallState, wherever the call runs. The model is
        notified, and the answer continues. A call that has already ended is not changed. Raises the worker's
        error, for example for an unknown id, or Unavailable if no worker acknowledges the request within 60 s."""
        self._require_open()
        await self._deliver(self._outbox.prepare(ControlStop(target_id=call_id)))

    async def vary(
        self, target_id: str, mode: Literal["regenerate", "edit", "continue"], *, new_content: str | None = None
    ) -> None:
        """Requests a new answer to a message (`regenerate`), an answer to its edited text (`edit`, with `new_content`),
        or the continuation of its answer (`continue`). The new answer arrives like any other. Raises the worker's
        error, for example for an unknown message, or Unavailable if no worker acknowledges the request within 60 s. If
        the message is still being answered, the worker handles the request afterwards. If the worker rejects the
        request then, the rejection arrives as an ErrorEvent."""
        self._require_open()
        variation = ControlVariation(target_id=target_id, mode=mode, new_content=new_content)
        await self._deliver(self._outbox.prepare(variation))

    async def respond_to_permission(
        self,
        permission_id: str,
        response: PermissionWord,
        *,
        message: str | None = None,
        edited_input: Mapping[str, Any] | None = None,
    ) -> None:
        """Answers a PermissionRequest. Raises the worker's error if the answer does not count (another answer
        arrived first, or the request has expired), or Unavailable without an Ack within 60 s."""
        await self._respond(permission_id, PermissionAnswer(response, message, edited_input))

    def on(self, event: type[Event], handler: Callable[[Event], object]) -> Callable[[], None]:
        """Calls `handler`, which may be a coroutine function, for each event of the given class: a class from
        `events`, or from `messages` for the worker's raw messages (`Body` for all of them). The returned function
        removes the handler. Raises TypeError for anything else."""
        if event not in EVENTS and not (isinstance(event, type) and issubclass(event, Body)):
            names = [each.__name__ for each in (*EVENTS, *Body.__subclasses__())]
            require_known([getattr(event, "__name__", str(event))], names, "an event")
            raise TypeError(f"{event!r} is not an event: expected a class from events or messages")
        return self._events.on(event, handler)

    async def when_connected(self, timeout: float) -> None:
        """Waits until a worker has acknowledged this client. Raises Unavailable after `timeout` seconds, or on
        `close`."""
        await self._link.when_ready(timeout)

    def rejoin(self, room: rtc.Room | Transport) -> None:
        """Continues with a different room object for the same room. Keeps tools, running calls and stanza numbers."""
        self._require_open()
        self._stop_listening()
        self._link.leave()
        self._transport = to_transport(room)
        self._stop_listening = self._listen()

    async def close(self) -> None:
        """Cancels running calls, withdraws all tools and stops listening. Further calls do nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._requests.cancel_all()
        self._tools.clear()
        if self._link.agents:
            await asyncio.sleep(0)  # so that the calls' last results are sent first
            self._outbox.post(self._configuration())
            await self._outbox.drain(CLOSE_S)
        await self._link.close()
        self._outbox.interrupt()  # ends waits for an Ack
        for part in (self._requests, self._permissions, self._tasks, self._outbox, self._events):
            await part.close()
        self._incoming.close()
        self._stop_listening()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _listen(self) -> Callable[[], None]:
        stop = self._transport.listen(_Listener(self._transport, self._link, self._incoming))
        if self._transport.is_connected:
            self._link.enter(self._transport.peers)
        return stop

    def _conversation_id(self) -> str:
        """Returns the conversation's id. Until a new room object is connected, it has no name, and the name of the
        earlier room is used."""
        self._room_name = self._transport.room_name or self._room_name
        return conversation_id_of(self._room_name)

    async def _publish(self, frame: bytes, way: Way) -> None:
        to = self._link.agents
        if not to:
            raise Unavailable("No agent is in the room")
        # Until LiveKit has announced this client, the worker may not know who sent a packet. A stream names its sender.
        await self._transport.send(frame, way if self._link.is_known else "stream", to)

    async def _configure(self, way: Way, timeout: float) -> bool:
        sent = self._outbox.prepare(self._configuration(), way)
        self._incoming.note_sent(sent.stanza_id)
        return await self._outbox.send_and_wait(sent, timeout)

    def _configuration(self) -> Configuration:
        options = self._options
        asked = (*FEATURES, *options.features, *(("permissions",) if options.on_permission else ()))
        return Configuration(
            last_sequence_seen=self._incoming.tell_last_seen(),
            client_version=f"parley-client (Python) {__version__}",
            preferred_language=options.language,
            device=options.device,
            listens=None if options.listens else False,
            features=list(dict.fromkeys(asked)),
            tools=[tool.announcement for tool in self._tools.values()] if options.announce else None,
        )

    async def _call_agent(self, method: str) -> None:
        self._require_open()
        if not self._link.agents:
            raise Unavailable("No agent is in the room")
        try:
            await self._transport.call_method(method, self._link.agents[0])
        except Exception as error:
            raise InvalidState(str(error)) from error

    async def _deliver(self, sent: Sent, at_once: bool = False) -> None:
        try:
            await self._outbox.deliver(sent, at_once)
        except asyncio.CancelledError:
            if self._is_closed:
                raise Unavailable("The client was closed") from None
            raise

    async def _respond(self, permission_id: str, answer: PermissionAnswer) -> None:
        self._require_open()
        await self._outbox.deliver(self._outbox.prepare(to_response(permission_id, answer)))

    def _refuse(self, problem: MalformedMessage) -> None:
        if not self._requests.refuse(problem):
            about = problem.body.get("id")
            originating_id = about if isinstance(about, str) and len(about) <= ID_LENGTH else None
            error_message = ErrorMessage(
                id=create_id(), code=Malformed.number, message=str(problem), originating_id=originating_id
            )
            sending = self._deliver(self._outbox.prepare(error_message), at_once=True)
            self._tasks.spawn(sending).add_done_callback(_retrieve)

    def _on_ready(self) -> None:
        self._events.emit(Connected(self._link.agents))

    def _on_lost(self, reason: LossReason) -> None:
        self._outbox.interrupt()
        self._incoming.note_lost()
        self._events.emit(Disconnected(reason))

    def _report(self, error: ParleyError) -> None:
        self._events.emit(ErrorEvent(error))

    def _on_handler_failed(self, error: Exception, event: object) -> None:
        if not isinstance(event, ErrorEvent):
            self._report(_to_parley_error(f"A handler for {type(event).__name__} failed", error))

    def _require_open(self) -> None:
        if self._is_closed:
            raise InvalidState("The client was closed")


@dataclass(frozen=True)
class _Listener:
    """Passes on frames from agents, and ignores all others."""

    transport: Transport
    link: AgentLink
    incoming: IncomingMessages

    def on_frame(self, frame: bytes, sender: Peer | None) -> None:
        if sender and sender.is_agent:
            self.incoming.handle(frame, sender.identity)
        elif not sender and not self.link.agents:
            self.incoming.miss(frame)

    def on_joined(self, peer: Peer) -> None:
        self.link.see(peer)

    def on_changed(self, peer: Peer) -> None:
        self.link.see(peer)

    def on_left(self, peer: Peer) -> None:
        self.link.remove(peer.identity)

    def on_connected(self) -> None:
        self.incoming.note_lost()
        self.link.enter(self.transport.peers)

    def on_disconnected(self) -> None:
        self.link.leave()


def to_transport(room: rtc.Room | Transport) -> Transport:
    return RoomTransport(room) if isinstance(room, rtc.Room) else room


def conversation_id_of(room_name: str) -> str:
    """Returns a room's conversation id: `ac_X` for a room `conv_ac_X`, otherwise the room's name."""
    is_prefixed = room_name.startswith("conv_ac_") and room_name != "conv_ac_"
    return room_name.removeprefix("conv_") if is_prefixed else room_name


def create_id() -> str:
    """Returns an id that cannot be guessed, made up of letters, digits, `_` and `-`."""
    return secrets.token_urlsafe(16)


def _to_parley_error(what: str, error: Exception) -> ParleyError:
    failure = Internal(what)
    failure.__cause__ = error
    return failure


def _retrieve(task: "asyncio.Task[None]") -> None:
    """Prevents asyncio's warning about a task whose error nobody awaits."""
    if not task.cancelled():
        task.exception()
