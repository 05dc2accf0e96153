"""Frames: a size, a header and a message, as they follow each other on a connection.

    request    size · api key · version · correlation id · client id · [tags] · message
    response   size · correlation id · [tags] · message

The schema of the message says which header goes before it: tags are there in flexible versions
only, and never before an ApiVersions response, which is read by clients that do not know yet what
the broker understands.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.apis import API_VERSIONS, BY_KEY, Answered, AnyApi, Api, Asked
from reference_impl.kafka.errors import WireError
from reference_impl.kafka.message import Message
from reference_impl.kafka.readers import UNREADABLE, Data, skip_tags
from reference_impl.kafka.writers import NO_TAGS, Pieces
from reference_impl.ports.network import Connection

MAX_FRAME_BYTES: Final = 104857600  # socket.request.max.bytes
_FLEXIBLE_HEADER: Final = (
    2  # request headers of this version have tags; responses' of the one before
)
_SIZE: Final = struct.Struct(">i")
_REQUEST: Final = struct.Struct(">hhih")
_RESPONSE: Final = struct.Struct(">ii")


class Header(NamedTuple):
    """The header of a request. ``supported``: the API is understood in this version."""

    api: AnyApi
    version: int
    correlation_id: int
    client_id: str
    supported: bool
    body_at: int


@decision("response-has-tags", rules=("KFK-096",))
def response_has_tags(api: str, flexible: bool) -> bool:
    """Tags follow the correlation id of an answer where its version is flexible, and only there."""
    return flexible


@decision("client-id-bytes", rules=("KFK-118",))
def client_id_bytes(length: int) -> int:
    """A null client id is as good as an empty one, and so is any other length below zero."""
    return max(length, 0)


def size_in(data: bytes, limit: int) -> int:
    """The size that a frame begins with; a WireError where no frame may have it."""
    (size,) = _SIZE.unpack(data)
    if not 0 <= size <= limit:
        raise WireError(f"a frame of {size} bytes")
    return int(size)


def read_header(frame: Data) -> Header:
    """The header of a request; a WireError if there is none, or if nobody knows its API."""
    try:
        key, version, correlation_id, length = _REQUEST.unpack_from(frame)
        api = BY_KEY.get(key)
        if api is None:
            raise WireError(f"no API has the key {key}")
        supported = version in api.versions
        at = _REQUEST.size + client_id_bytes(length)
        if at > len(frame):
            raise WireError("the client id is cut off")
        client_id = frame[_REQUEST.size : at].decode(errors="replace")
        if _has_tags(api, version, supported):
            at = skip_tags(frame, at, [])
    except UNREADABLE as error:
        raise WireError(f"no header: {error}") from None
    return Header(api, version, correlation_id, client_id, supported, at)


def _has_tags(api: AnyApi, version: int, supported: bool) -> bool:
    if supported:
        return api.requests.header_version(version) == _FLEXIBLE_HEADER
    # Only of ApiVersions are unknown versions answered; newer ones have the newest header.
    return api is API_VERSIONS and version > api.versions[-1]


def request_frame(
    api: AnyApi, version: int, correlation_id: int, client_id: str, message: Message
) -> bytes:
    """A request, ready to be sent."""
    name = client_id.encode()
    pieces: Pieces = [_REQUEST.pack(api.key, version, correlation_id, len(name)), name]
    if api.requests.header_version(version) == _FLEXIBLE_HEADER:
        pieces.append(NO_TAGS)
    api.requests.write(message, version, pieces)
    return b"".join((_SIZE.pack(sum(map(len, pieces))), *pieces))


def response_frame(api: AnyApi, version: int, correlation_id: int, message: Message) -> bytes:
    """A response, ready to be sent."""
    pieces: Pieces = [b""]
    if response_has_tags(api.name, bool(api.responses.header_version(version))):
        pieces.append(NO_TAGS)
    api.responses.write(message, version, pieces)
    pieces[0] = _RESPONSE.pack(4 + sum(map(len, pieces)), correlation_id)
    return b"".join(pieces)


async def read_response(
    connection: Connection, api: Api[Asked, Answered], version: int, correlation_id: int
) -> Answered:
    """The response to a request, or a WireError."""
    size = size_in(await connection.read_exactly(_SIZE.size), MAX_FRAME_BYTES)
    frame = await connection.read_long(size)
    try:
        (answered,) = _SIZE.unpack_from(frame)
        at = _SIZE.size
        if response_has_tags(api.name, bool(api.responses.header_version(version))):
            at = skip_tags(frame, at, [])
    except UNREADABLE as error:
        raise WireError(f"no header: {error}") from None
    if answered != correlation_id:
        raise WireError(f"an answer to request {answered}, not to {correlation_id}")
    return api.responses.decode(frame, version, at)
