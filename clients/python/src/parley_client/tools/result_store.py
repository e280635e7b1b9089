"""Stores results that were sent."""

from ..evict_oldest import evict_oldest
from ..messages import ToolUseResult
from .run_tool import failed

MAX_IDS = 5_000
MAX_RESULTS = 256
MAX_BYTES = 8 * 1024 * 1024


class ResultStore:
    """Stores results, so that the client can answer a repeated request without running the tool again. Drops the oldest
    results first, but keeps their ids longer, so that a repeated request still does not run again."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._results: dict[str, tuple[ToolUseResult, int]] = {}
        self._bytes = 0

    def add(self, result: ToolUseResult, size: int) -> None:
        self._ids[result.id] = None
        self._results[result.id] = (result, size)
        self._bytes += size
        while len(self._results) > MAX_RESULTS or self._bytes > MAX_BYTES:
            _, dropped = self._results.pop(next(iter(self._results)))
            self._bytes -= dropped
        evict_oldest(self._ids, MAX_IDS)

    def find(self, request_id: str) -> ToolUseResult | None:
        """Returns the result of a request: None if there is none yet, an error result if the result was dropped."""
        stored = self._results.get(request_id)
        if stored:
            return stored[0]
        if request_id not in self._ids:
            return None
        return failed(request_id, "execution_error", "The client no longer has the result of this request")
