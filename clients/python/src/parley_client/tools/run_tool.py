"""Runs one call of a tool."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from ..limits import DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS
from ..messages import Json, ToolUseRequest, ToolUseResult
from .tool import Tool
from .tool_context import ToolContext, ToolError
from .tool_output import ToolOutput

MAX_MESSAGE_BYTES = 8_192


async def run_tool(
    tool: Tool, request: ToolUseRequest, context: ToolContext, cancelled: "asyncio.Future[str]"
) -> ToolUseResult:
    """Runs the tool and returns its result, with the protocol's error messages. Returns at the deadline or when
    `cancelled` has a result (the reason), even if the tool ignores its cancellation. Never raises."""
    timeout_ms = min(request.timeout_ms or DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)
    work = asyncio.ensure_future(tool.run(request.parameters, context))
    waiting: set[asyncio.Future[Any]] = {work, cancelled}
    await asyncio.wait(waiting, timeout=timeout_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        return _outcome_of(work, request.id)
    work.cancel()
    work.add_done_callback(_ignore)
    if cancelled.done():
        return failed(request.id, "cancelled", cancelled.result())
    return failed(request.id, "timeout", f"Tool execution exceeded timeout of {timeout_ms}ms")


def failed(request_id: str, code: str, message: str, result: Json | None = None) -> ToolUseResult:
    return ToolUseResult(id=request_id, success=False, error_code=code, error_message=message, result=result)


def _outcome_of(work: "asyncio.Future[Any]", request_id: str) -> ToolUseResult:
    try:
        return _succeeded(request_id, work.result())
    except asyncio.CancelledError:
        return failed(request_id, "execution_error", "The tool cancelled itself")
    except ToolError as error:
        return _failed_with(request_id, error.code, error, error.result)
    except Exception as error:
        return _failed_with(request_id, "execution_error", error, None)


def _succeeded(request_id: str, returned: object) -> ToolUseResult:
    output = returned if isinstance(returned, ToolOutput) else ToolOutput(returned)
    return ToolUseResult(
        id=request_id,
        success=True,
        result=_to_map(output.result),
        # The blocks are not converted to JSON types, so that bytes in them are sent as bytes.
        content=None if output.content is None else [dict(block) for block in output.content],
        display=None if output.display is None else _to_map(output.display),
    )


def _failed_with(request_id: str, code: str, error: Exception, partial: Mapping[str, Any] | None) -> ToolUseResult:
    try:
        message = str(error)
    except Exception:
        message = ""
    result = None if partial is None else _to_map(partial)
    return failed(request_id, code, truncate(message, MAX_MESSAGE_BYTES) or type(error).__name__, result)


def _to_map(value: object) -> Json:
    """Converts models, dataclasses, dates and similar values to JSON types. Wraps a value that is not a dict."""
    if value is None:
        return {}
    try:
        plain = to_jsonable_python(value)
    except ValueError as error:
        raise ValueError(f"The result cannot be encoded: {error}") from None
    return plain if isinstance(plain, dict) else {"value": plain}


def truncate(text: str, most_bytes: int) -> str:
    """Returns the first bytes of the text, cut between characters, with a note about the truncation."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most_bytes:
        return text
    kept = encoded[:most_bytes].decode("utf-8", "ignore")
    return f"{kept}\n[truncated: {len(encoded)} bytes, the first {most_bytes} are shown]"


def _ignore(work: "asyncio.Future[Any]") -> None:
    if not work.cancelled():
        work.exception()
