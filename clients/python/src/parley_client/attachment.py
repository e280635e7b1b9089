"""Attachments of messages."""

from dataclasses import dataclass

from .messages import Json


@dataclass(frozen=True)
class Attachment:
    """A file or text that is shown to the model with a message."""

    content: bytes | str
    """The bytes of a picture (PNG, JPEG, GIF, WebP) or of a PDF, whose type is detected, or plain text."""
    name: str | None = None

    def to_json(self) -> Json:
        kind = "text" if isinstance(self.content, str) else "data"
        return {kind: self.content} if self.name is None else {"name": self.name, kind: self.content}
