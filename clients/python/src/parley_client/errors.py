"""The protocol's errors, with their names and numbers on the wire (docs/errors.md in Parley's repository)."""

from typing import ClassVar


class ParleyError(Exception):
    """An error with one of the protocol's codes. The message describes what was wrong and never quotes the
    conversation."""

    code: ClassVar[str] = "internal"
    number: ClassVar[int] = 501


class Malformed(ParleyError):
    code, number = "malformed", 101


class UnknownType(ParleyError):
    code, number = "unknown_type", 102


class ConversationNotFound(ParleyError):
    code, number = "conversation_not_found", 201


class InvalidState(ParleyError):
    code, number = "invalid_state", 202


class ToolNotFound(ParleyError):
    code, number = "tool_not_found", 301


class ToolTimeout(ParleyError):
    code, number = "tool_timeout", 304


class NotAllowed(ParleyError):
    code, number = "not_allowed", 401


class TooLarge(ParleyError):
    code, number = "too_large", 413


class TooMany(ParleyError):
    code, number = "too_many", 429


class InvalidConfig(ParleyError):
    code, number = "invalid_config", 500


class Internal(ParleyError):
    code, number = "internal", 501


class Unavailable(ParleyError):
    """No worker is in the room, or a service is unavailable. The same request may succeed later."""

    code, number = "unavailable", 503


class QueueOverflow(ParleyError):
    code, number = "queue_overflow", 504


class LostLease(ParleyError):
    code, number = "lost_lease", 505


BY_NUMBER: dict[int, type[ParleyError]] = {error.number: error for error in ParleyError.__subclasses__()}


def to_error(number: int, message: str) -> ParleyError:
    """Returns the error for an ErrorMessage: `Internal` if its number is unknown here."""
    return BY_NUMBER.get(number, Internal)(message)
