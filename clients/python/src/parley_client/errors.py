"""The errors of the protocol, by their names and numbers on the wire (docs/errors.md of Parley)."""

from typing import ClassVar


class ParleyError(Exception):
    """An error with a code of the protocol. Its text names what was wrong and holds no content."""

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
    """Nobody is there, or a service is away. The same request may work later."""

    code, number = "unavailable", 503


class QueueOverflow(ParleyError):
    code, number = "queue_overflow", 504


class LostLease(ParleyError):
    code, number = "lost_lease", 505


BY_NUMBER: dict[int, type[ParleyError]] = {error.number: error for error in ParleyError.__subclasses__()}


def to_error(number: int, message: str) -> ParleyError:
    """The error of an ErrorMessage; one with a number that is not known here is `Internal`."""
    return BY_NUMBER.get(number, Internal)(message)
