"""Logs and progress of running calls."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from ..messages import ToolUseProgress

TICK_S = 0.2
MESSAGES_PER_TICK = 2
"""How many messages are sent per tick of 0.2 s. This is a fifth of the rate that the worker accepts from one
participant."""
MAX_LOG_LENGTH = 16_384


@dataclass
class _Pending:
    lines: list[str] = field(default_factory=list)
    progress: float | None = None


class ProgressSender:
    """Sends log lines and progress in few messages, in order for each call."""

    def __init__(self, send: Callable[[ToolUseProgress], None]) -> None:
        self._send = send
        self._pending: dict[str, _Pending] = {}
        self._timer: asyncio.TimerHandle | None = None

    def log(self, call_id: str, line: str) -> None:
        self._of(call_id).lines.append(str(line))

    def progress(self, call_id: str, fraction: float) -> None:
        """Sets a call's progress. Numbers are clamped to the range from 0 to 1; NaN is ignored."""
        if not math.isnan(fraction):
            self._of(call_id).progress = float(min(1, max(0, fraction)))

    def flush(self, call_id: str) -> None:
        """Sends what is still pending for a call. Must be called before the call's result is sent."""
        pending = self._pending.pop(call_id, None)
        if pending:
            log = "\n".join(pending.lines)[:MAX_LOG_LENGTH] if pending.lines else None
            self._send(ToolUseProgress(id=call_id, log=log, progress=pending.progress))

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._pending.clear()

    def _of(self, call_id: str) -> _Pending:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)
        return self._pending.setdefault(call_id, _Pending())

    def _tick(self) -> None:
        self._timer = None
        for call_id in list(self._pending)[:MESSAGES_PER_TICK]:
            self.flush(call_id)
        if self._pending:
            self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)
