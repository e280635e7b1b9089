"""Requests for permission, and who answers them."""

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
    """`approve` and `once` allow this call, `always` also later ones with the same patterns."""
    message: str | None = None
    """Told to the model. Beside `reject` only."""
    edited_input: Mapping[str, Any] | None = None
    """Other arguments for the call, where its tool allows them. Not beside `reject`."""


Answered = PermissionAnswer | PermissionWord | None
PermissionHandler = Callable[[PermissionRequest], Answered | Awaitable[Answered]]
"""Gives the answer, or None where another way gives it. Is cancelled when the request waits no longer."""


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
    """Asks the handler once for each request, although a request comes again after a reconnect."""

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
        """The worker says how a request has ended: by our answer, or by another one."""
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
            # A refusal of the worker is an ErrorEvent already.
            if isinstance(error, Unavailable):
                self._ports.on_failure(error)
        except Exception as error:
            self._ports.on_failure(error)
        finally:
            self._asking.discard(request.id)
