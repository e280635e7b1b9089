"""Calls handlers for events, by the events' class."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .tasks import Tasks

Event = TypeVar("Event")
Handler = Callable[[Any], object]


class Emitter:
    """Passes each event to the handlers for its class or a base class. A failing handler does not affect the others."""

    def __init__(self, on_failure: Callable[[Exception, object], None]) -> None:
        self._handlers: list[tuple[type, Handler]] = []
        self._on_failure = on_failure
        self._tasks = Tasks()

    def on(self, event: type[Event], handler: Callable[[Event], object]) -> Callable[[], None]:
        entry = (event, handler)
        self._handlers.append(entry)

        def off() -> None:
            self._handlers = [each for each in self._handlers if each is not entry]

        return off

    def emit(self, value: object) -> None:
        for event, handler in tuple(self._handlers):
            if isinstance(value, event):
                self._call(handler, value)

    async def close(self) -> None:
        self._handlers = []
        await self._tasks.close()

    def _call(self, handler: Handler, value: object) -> None:
        try:
            returned = handler(value)
        except Exception as error:
            self._on_failure(error, value)
        else:
            if inspect.isawaitable(returned):
                self._tasks.spawn(self._follow(returned, value))

    async def _follow(self, returned: Awaitable[object], value: object) -> None:
        try:
            await returned
        except Exception as error:
            self._on_failure(error, value)
