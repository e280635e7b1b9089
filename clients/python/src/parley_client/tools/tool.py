"""Tools that the model may call on this client."""

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, overload

from ..limits import DESCRIPTION_LENGTH, MAX_TIMEOUT_MS, TOOL_NAME
from ..messages import Json
from .tool_context import ToolContext
from .tool_input import InputSchema, ToolInput, to_input

Function = Callable[..., Any]


@dataclass(frozen=True)
class Tool:
    """A function that the model may call, created by `tool`."""

    function: Function
    announcement: Json
    input: ToolInput

    @property
    def name(self) -> str:
        name: str = self.announcement["name"]
        return name

    async def run(self, parameters: Json, context: ToolContext) -> object:
        """Runs the function. A function that is not a coroutine function runs in a thread, so that it cannot block the
        event loop."""
        arguments = self.input.to_arguments(parameters, context)
        if inspect.iscoroutinefunction(self.function):
            returned: object = await self.function(**arguments)
            return returned
        return await asyncio.to_thread(self.function, **arguments)


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    input: InputSchema | None = None,
    timeout: float | None = None,
    execution: Literal["client", "either"] = "client",
    scope: Literal["own", "room"] = "own",
    read_only: bool = False,
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    input: InputSchema | None = None,
    timeout: float | None = None,
    execution: Literal["client", "either"] = "client",
    scope: Literal["own", "room"] = "own",
    read_only: bool = False,
) -> Tool | Callable[[Function], Tool]:
    """Makes a tool from a function, whose parameters are the tool's input.

    name: 1 to 64 letters, digits, `_` and `-`; the function's name by default.
    description: what the model reads to decide when to use the tool; the function's docstring by default.
    input: a pydantic model or a JSON Schema that replaces the function's parameters. The function then has one
        parameter for the whole input. With a JSON Schema, only the worker checks the input.
    timeout: the maximum duration of a call in seconds, announced to the worker; 30 by default, at most 600.
    execution: with `either`, the worker may run its own tool of this name instead.
    scope: in whose turns the model may use the tool: only this client's own, or with `room` every participant's.
    read_only: whether the tool never changes anything.

    Raises TypeError if one of these is invalid.
    """

    def make(function: Function) -> Tool:
        tool_name = str(name or getattr(function, "__name__", ""))
        try:
            if not TOOL_NAME.fullmatch(tool_name):
                raise TypeError(f"its name does not match {TOOL_NAME.pattern}")
            described = inspect.cleandoc(description or function.__doc__ or "")
            if not 0 < len(described) <= DESCRIPTION_LENGTH:
                raise TypeError(f"expected a docstring or a description, of at most {DESCRIPTION_LENGTH} characters")
            for field, word, words in (
                ("execution", execution, ("client", "either")),
                ("scope", scope, ("own", "room")),
            ):
                if word not in words:
                    raise TypeError(f'{field}: expected one of {", ".join(words)}, got "{word}"')
            tool_input = to_input(function, input)
            announcement: Json = {"name": tool_name, "description": described, "inputSchema": tool_input.schema}
            announcement |= {} if execution == "client" else {"execution": execution}
            announcement |= {} if scope == "own" else {"scope": scope}
            announcement |= {} if timeout is None else {"timeoutMs": _milliseconds(timeout)}
            announcement |= {"annotations": {"readOnlyHint": True}} if read_only else {}
        except Exception as error:  # including pydantic's, for a type without a JSON Schema
            raise TypeError(f'The tool "{tool_name}" cannot be used: {error}') from error
        return Tool(function, announcement, tool_input)

    return make if function is None else make(function)


def _milliseconds(seconds: float) -> int:
    milliseconds = round(seconds * 1000)
    if not 0 < milliseconds <= MAX_TIMEOUT_MS:
        raise TypeError(f"timeout: expected seconds, above 0 and at most {MAX_TIMEOUT_MS // 1000}")
    return milliseconds
