"""What a tool returns that is more than data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToolOutput:
    """Returned by a tool that shows the model pictures or documents, or gives people something to look at."""

    result: Any = None
    """What the tool would return without this. The model reads it before `content`."""
    content: Sequence[Mapping[str, Any]] | None = None
    """For the model alone: content blocks of Anthropic's API, as `{"type": "image", "source": {"data": png}}`."""
    display: Mapping[str, Any] | None = None
    """For clients' pages alone: the model doesn't see it."""
