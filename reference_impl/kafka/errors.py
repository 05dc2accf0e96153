"""What can be wrong with a request.

    KafkaError     a refusal with one of Kafka's error codes: a handler's way to an error answer
    WireError      bytes that are no message of the protocol: the connection is closed

``ErrorCode`` is kio's table of Kafka's codes, an ``IntEnum``: a member can stand wherever a message
takes an error code.
"""

from __future__ import annotations

from kio.schema.errors import ErrorCode

__all__ = ["ErrorCode", "KafkaError", "WireError"]


class KafkaError(Exception):
    """A request, or a part of one, is refused with this code."""

    def __init__(self, code: ErrorCode, message: str = "") -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        name = self.code.name.upper()
        return f"{name}: {self.message}" if self.message else name


class WireError(Exception):
    """The bytes are no message of the protocol."""
