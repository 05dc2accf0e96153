"""Just enough of PostgreSQL's message framing to tell where a statement begins and ends.

A frontend sends messages and then waits; the unit it waits for is a *group*: everything up to a
Sync, or one simple Query. A group is a *statement* if something in it is executed; preparing or
closing a statement is a group of its own that changes nothing. The backend ends its answer to each
group with ReadyForQuery, whose status byte says whether a transaction is still open.

Not understood and not needed: contents of rows, COPY, replication, encryption (refused politely, so
that the frontend goes on in clear).
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

FRAME_LIMIT_BYTES = 16 << 20

_SSL_REQUEST = 80877103
_GSS_REQUEST = 80877104
_CANCEL_REQUEST = 80877102

READY_FOR_QUERY = b"Z"
ERROR_RESPONSE = b"E"
IDLE = b"I"


def sql_error(sqlstate: str, says: str) -> bytes:
    """What a database says that cannot do something, and that it waits for the next statement."""
    fields = f"SERROR\0VERROR\0C{sqlstate}\0M{says}\0\0".encode()
    told = ERROR_RESPONSE + struct.pack("!I", 4 + len(fields)) + fields
    return told + READY_FOR_QUERY + struct.pack("!I", 5) + IDLE


# Of each class of SQLSTATE that a database in service may answer.
HARD_ERRORS = (
    sql_error("42883", "the function is not there"),
    sql_error("23505", "a key is there twice"),
    sql_error("22003", "a number is out of range"),
    sql_error("55000", "it is not in the state for that"),
    sql_error("58030", "it cannot be read or written"),
    sql_error("XX001", "the data is damaged"),
)
PASSING_ERRORS = (
    sql_error("40001", "it gave way to another transaction"),
    sql_error("40P01", "it waited for itself"),
    sql_error("53300", "there are too many connections"),
    sql_error("57014", "it took too long"),
    sql_error("55P03", "a lock is not free"),
    sql_error("08006", "a connection is lost"),
)

_GROUP_ENDS = (b"S", b"Q", b"F")  # Sync, Query, FunctionCall
_EXECUTES = (b"E", b"Q", b"F")  # Execute, Query, FunctionCall
_TERMINATE = b"X"


class FrameTooLarge(ConnectionError):
    """A message longer than anything the lab's own programs would send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Frontend messages that belong together, as they came off the wire."""

    raw: bytes
    executes: bool
    answered: bool  # whether the backend will say ReadyForQuery to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One message of the backend."""

    kind: bytes
    raw: bytes

    @property
    def transaction_status(self) -> bytes:
        """Of a ReadyForQuery: I (idle), T (in a transaction) or E (in a failed one)."""
        return self.raw[5:6]


async def read_startup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The frontend's first real message; offers of encryption are declined on the way."""
    while True:
        head = await reader.readexactly(8)
        length, code = struct.unpack("!II", head)
        if code in (_SSL_REQUEST, _GSS_REQUEST):
            writer.write(b"N")
            await writer.drain()
            continue
        return head + await reader.readexactly(_checked(length) - 8)


def is_cancel(startup: bytes) -> bool:
    """Whether this connection only asks to cancel a statement of another one."""
    return bool(struct.unpack("!I", startup[4:8])[0] == _CANCEL_REQUEST)


async def read_group(reader: asyncio.StreamReader) -> Group:
    """The next group of the frontend; raises IncompleteReadError when it hangs up."""
    raw = bytearray()
    executes = False
    while True:
        frame = await read_frame(reader)
        raw += frame.raw
        executes = executes or frame.kind in _EXECUTES
        if frame.kind in _GROUP_ENDS:
            return Group(raw=bytes(raw), executes=executes, answered=True)
        if frame.kind == _TERMINATE or frame.kind == b"p":  # goodbye, or a password
            return Group(raw=bytes(raw), executes=False, answered=False)
        _checked(len(raw))


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """The next message of either side, once the startup is over."""
    head = await reader.readexactly(5)
    length = _checked(int.from_bytes(head[1:], "big"))
    return Frame(kind=head[:1], raw=head + await reader.readexactly(length - 4))


def _checked(length: int) -> int:
    if not 4 <= length <= FRAME_LIMIT_BYTES:
        raise FrameTooLarge(f"a message of {length} bytes")
    return length
