"""Results with pictures, documents or something to display."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToolOutput:
    """Returned by a tool that shows pictures or documents to the model, or displays something to people."""

    result: Any = None
    """The tool's plain result, which the model reads before `content`."""
    content: Sequence[Mapping[str, Any]] | None = None
    """Only for the model: content blocks as in Anthropic's API, such as `{"type": "image", "source": {"data":
    png}}`."""
    display: Mapping[str, Any] | None = None
    """Only for clients' pages. The model does not see this."""
