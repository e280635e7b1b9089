"""The client's side of tool calls."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from ..errors import ParleyError, TooLarge
from ..events import Runner, ToolCall, ToolResult
from ..limits import ID_LENGTH
from ..messages import Acknowledgement, Body, ToolUseCancel, ToolUseRequest, ToolUseResult
from ..tasks import Tasks
from ..wire.codec import Envelope, MalformedMessage
from ..wire.outbox import Sent
from .progress import ProgressSender
from .result_store import ResultStore
from .run_tool import failed, run_tool, truncate
from .tool import Tool
from .tool_context import ToolContext


@dataclass(frozen=True)
class ToolRequestPorts:
    find_tool: Callable[[str], Tool | None]
    prepare: Callable[[ToolUseResult, str | None], Sent]
    """Numbers and encodes a result that belongs to the given trace. Raises ParleyError if it cannot be encoded."""
    deliver: Callable[[Sent], Coroutine[None, None, None]]
    """Sends the message, and resends it until the worker acknowledges it."""
    repeat: Callable[[Sent], None]
    """Resends the message now."""
    post: Callable[[Body], None]
    on_event: Callable[[ToolCall | ToolResult], None]


@dataclass(frozen=True)
class _Running:
    cancelled: "asyncio.Future[str]"
    task: "asyncio.Task[None]"

    def cancel(self, reason: str) -> None:
        if not self.cancelled.done():
            self.cancelled.set_result(reason)


class ToolRequests:
    """Answers each request that this client runs with exactly one result, whatever happens. A repeated request is
    answered with the same result, without running the tool again."""

    def __init__(self, ports: ToolRequestPorts) -> None:
        self._ports = ports
        self._running: dict[str, _Running] = {}
        self._results = ResultStore()
        self._delivering: dict[str, Sent] = {}
        self._progress = ProgressSender(ports.post)
        self._tasks = Tasks()

    @property
    def running_count(self) -> int:
        return len(self._running)

    def handle(self, request: ToolUseRequest, envelope: Envelope) -> None:
        # The execution is checked before the stored results: if the server takes over a call from this client, it
        # announces the call again as `server`.
        if request.execution == "server":
            self._tell(request, "server")
            return
        stored = self._results.find(request.id)
        if stored:
            self._send_again(stored)
            return
        tool = self._ports.find_tool(request.tool_name)
        is_running = request.id in self._running
        if request.execution == "either":  # claims or declines the call
            is_taken = is_running or tool is not None
            self._ports.post(Acknowledgement(acknowledged_stanza_id=envelope.stanza_id, success=is_taken))
            if not is_taken:
                return
        if is_running:
            return
        self._tell(request, "client")
        if tool is None:
            self._settle(_unknown_tool(request.id, request.tool_name), request.tool_name)
        else:
            traceparent = envelope.meta.get("traceparent")
            self._start(tool, request, traceparent if isinstance(traceparent, str) else None)

    def refuse(self, problem: MalformedMessage) -> bool:
        """Answers a malformed request. Returns False if no result can answer it, because its `execution` or id
        cannot be read."""
        request_id, execution, name = (problem.body.get(key) for key in ("id", "execution", "toolName"))
        if execution == "server":
            return True
        if execution not in ("client", "either") or not isinstance(request_id, str):
            return False
        if not 0 < len(request_id) <= ID_LENGTH:
            return False
        stored = self._results.find(request_id)
        if stored:
            self._send_again(stored)
        elif request_id not in self._running:
            name = name if isinstance(name, str) else ""
            is_known = self._ports.find_tool(name) is not None
            invalid = failed(request_id, "invalid_parameters", str(problem))
            self._settle(invalid if is_known else _unknown_tool(request_id, name), name)
        return True

    def cancel(self, body: ToolUseCancel) -> None:
        """Cancels a call. A request that is sent as a stream may arrive after its cancel. In that case, it is not
        run."""
        reason = f"The worker cancelled the call ({body.reason})"
        running = self._running.get(body.id)
        if running:
            running.cancel(reason)
        elif not self._results.find(body.id):
            self._results.add(failed(body.id, "cancelled", reason), 0)

    async def cancel_all(self) -> None:
        """Cancels all calls, and waits until each of them has a result."""
        running = list(self._running.values())
        for call in running:
            call.cancel("The client was closed")
        await asyncio.gather(*(call.task for call in running))

    async def close(self) -> None:
        """Stops sending and resending."""
        self._progress.close()
        await self._tasks.close()

    def _start(self, tool: Tool, request: ToolUseRequest, traceparent: str | None) -> None:
        cancelled: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        task = self._tasks.spawn(self._run(tool, request, traceparent, cancelled))
        self._running[request.id] = _Running(cancelled, task)

    async def _run(
        self, tool: Tool, request: ToolUseRequest, traceparent: str | None, cancelled: "asyncio.Future[str]"
    ) -> None:
        loop = asyncio.get_running_loop()

        def tell(to: Callable[[str, Any], None], value: object) -> None:
            with contextlib.suppress(RuntimeError):  # a tool's thread may outlive the loop
                loop.call_soon_threadsafe(lambda: to(request.id, value) if request.id in self._running else None)

        context = ToolContext(
            call_id=request.id,
            participant=request.participant,
            traceparent=traceparent,
            log=lambda line: tell(self._progress.log, line),
            progress=lambda fraction: tell(self._progress.progress, fraction),
        )
        result = await run_tool(tool, request, context, cancelled)
        del self._running[request.id]
        self._progress.flush(request.id)
        self._settle(result, tool.name, traceparent)

    def _settle(self, result: ToolUseResult, tool_name: str, traceparent: str | None = None) -> None:
        result, sent = self._prepare(result, traceparent)
        self._results.add(result, len(sent.frame))
        self._tasks.spawn(self._deliver(result.id, sent))
        self._ports.on_event(
            ToolResult(
                id=result.id,
                tool_name=tool_name,
                success=result.success,
                result=result.result,
                error_code=result.error_code,
                error_message=result.error_message,
                ran_by="client",
                display=result.display,
            )
        )

    def _prepare(self, result: ToolUseResult, traceparent: str | None) -> tuple[ToolUseResult, Sent]:
        """Encodes a result. A result that cannot be sent is replaced by an error result that says why."""
        try:
            return result, self._ports.prepare(result, traceparent)
        except TooLarge as error:
            result = failed(result.id, "result_too_large", f"The result is too large to send: {error}")
        except ParleyError as error:
            result = failed(result.id, "execution_error", f"The result cannot be encoded: {error}")
        return result, self._ports.prepare(result, traceparent)

    def _send_again(self, result: ToolUseResult) -> None:
        # A result that is still being delivered keeps its number. With a new number, it would count as a second answer.
        delivering = self._delivering.get(result.id)
        if delivering:
            self._ports.repeat(delivering)
        else:
            self._tasks.spawn(self._deliver(result.id, self._ports.prepare(result, None)))

    async def _deliver(self, request_id: str, sent: Sent) -> None:
        self._delivering[request_id] = sent
        try:
            with contextlib.suppress(ParleyError):  # the worker asks again if it still needs the result
                await self._ports.deliver(sent)
        finally:
            del self._delivering[request_id]

    def _tell(self, request: ToolUseRequest, ran_by: Runner) -> None:
        self._ports.on_event(
            ToolCall(
                id=request.id,
                message_id=request.message_id,
                tool_name=request.tool_name,
                parameters=request.parameters,
                ran_by=ran_by,
                participant=request.participant,
            )
        )


def _unknown_tool(request_id: str, tool_name: str) -> ToolUseResult:
    """Returns the error result that the protocol specifies. The name is truncated, because it may have any length."""
    return failed(request_id, "unknown_tool", f"Tool '{truncate(tool_name, 256)}' is not supported by this client")
