"""Permission requests and their answers."""

import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ParleyError, Unavailable
from .messages import PermissionRequest, PermissionResponse, PermissionState, PermissionWord
from .tasks import Tasks


@dataclass(frozen=True)
class PermissionAnswer:
    response: PermissionWord
    """`approve` and `once` allow this call; `always` also allows later calls with the same patterns."""
    message: str | None = None
    """Passed on to the model. Only with `reject`."""
    edited_input: Mapping[str, Any] | None = None
    """Changed arguments for the call, if its tool allows that. Not with `reject`."""


Answered = PermissionAnswer | PermissionWord | None
PermissionHandler = Callable[[PermissionRequest], Answered | Awaitable[Answered]]
"""Returns the answer, or None if the request is answered in another way. If the handler is a coroutine function, its
task is canceled once the request is closed."""


def to_response(permission_id: str, answer: PermissionAnswer) -> PermissionResponse:
    edited = None if answer.edited_input is None else json.dumps(answer.edited_input, ensure_ascii=False)
    return PermissionResponse(
        permission_id=permission_id, response=answer.response, message=answer.message, edited_input_json=edited
    )


@dataclass(frozen=True)
class PermissionPorts:
    respond: Callable[[str, PermissionAnswer], Coroutine[None, None, None]]
    on_closed: Callable[[str, PermissionState], None]
    on_failure: Callable[[Exception], None]


class Permissions:
    """Calls the handler once for each request, even if the worker resends the request after a reconnect."""

    def __init__(self, handler: PermissionHandler | None, ports: PermissionPorts) -> None:
        self._handler = handler
        self._ports = ports
        self._open: dict[str, Tasks] = {}
        self._asking: set[str] = set()

    def ask(self, request: PermissionRequest) -> None:
        tasks = self._open.setdefault(request.id, Tasks())
        if self._handler and request.id not in self._asking:
            tasks.spawn(self._answer(self._handler, request))

    def end(self, response: PermissionResponse) -> None:
        """Handles the worker's report that a request is closed, by this client's answer or in another way."""
        tasks = self._open.pop(response.permission_id, None)
        if tasks:
            tasks.cancel()
            state = response.state or ("rejected" if response.response == "reject" else "approved")
            self._ports.on_closed(response.permission_id, state)

    async def close(self) -> None:
        for tasks in self._open.values():
            await tasks.close()

    async def _answer(self, handler: PermissionHandler, request: PermissionRequest) -> None:
        self._asking.add(request.id)
        try:
            returned = handler(request)
            answer = await returned if inspect.isawaitable(returned) else returned
            if answer is not None:
                whole = answer if isinstance(answer, PermissionAnswer) else PermissionAnswer(answer)
                await self._ports.respond(request.id, whole)
        except ParleyError as error:
            # An error from the worker is already reported as an ErrorEvent.
            if isinstance(error, Unavailable):
                self._ports.on_failure(error)
        except Exception as error:
            self._ports.on_failure(error)
        finally:
            self._asking.discard(request.id)
