"""What goes with a message."""

from dataclasses import dataclass

from .messages import Json


@dataclass(frozen=True)
class Attachment:
    """What the model is shown with a message."""

    content: bytes | str
    """A picture (PNG, JPEG, GIF, WebP) or a PDF, as its bytes say, or plain text."""
    name: str | None = None

    def to_json(self) -> Json:
        kind = "text" if isinstance(self.content, str) else "data"
        return {kind: self.content} if self.name is None else {"name": self.name, kind: self.content}
