"""Serving: requests of one connection, one after the other, as Kafka does.

The next request is carried out when the answer to the last one is on its way, so answers come in
order whatever the handlers wait for. One exception, which Kafka does not make: a request that is
carried out and only waits to be settled lets the next one of its kind go on (``kafka.answers``).

| a request | gets |
|---|---|
| whose handler returns a message | that message |
| whose handler returns ``Later`` | the message that is found then |
| whose handler returns None | no answer (acks=0) |
| whose handler raises a KafkaError | an answer with that code, where the response as a whole can have one; else the connection is closed |
| whose handler raises a ConnectionError | the connection is closed: what Kafka does to a failed produce with acks=0 |
| whose handler fails otherwise | the connection is reset, and the loop's exception handler is told |
| of an API or version not offered | the connection is closed |
| of an unknown version of ApiVersions | the answer of version 0 with UNSUPPORTED_VERSION |
| that is no message, or too long | the connection is closed |
| whose answer nobody takes for as long as a connection may be idle | the connection is reset |
| whose answer has text that is too long to be written | the connection is closed; Kafka says nothing more |

Bytes after the end of a message are ignored.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from reference_impl.kafka.answers import Answers, Later
from reference_impl.kafka.api_versions import answer_api_versions, unsupported_version
from reference_impl.kafka.apis import API_VERSIONS, PRODUCE, Answered, AnyApi
from reference_impl.kafka.errors import KafkaError, WireError
from reference_impl.kafka.frames import Header, read_header, response_frame
from reference_impl.kafka.limits import Frame, Limits
from reference_impl.kafka.message import Message
from reference_impl.kafka.patience import within
from reference_impl.kafka.readers import Data
from reference_impl.ports.network import Connection, EndOfStream


class Context(NamedTuple):
    """Who asks, and in which version of which API."""

    api: AnyApi
    version: int
    client_id: str
    peer: str
    listener: str


Answer: TypeAlias = Awaitable[Answered | Later[Answered] | None]
Handler: TypeAlias = Callable[[Context, Any], Answer[Message]]  # of one API or another


class Meters(Protocol):
    """Who is told of every request that was carried out."""

    def answered(self, api: AnyApi, version: int, response: Message | None) -> None:
        """With its answer, if it has one."""
        ...


class _NotMetered:
    def answered(self, api: AnyApi, version: int, response: Message | None) -> None:
        """Nobody counts."""


NOT_METERED: Meters = _NotMetered()


async def serve(
    connection: Connection,
    handlers: Mapping[AnyApi, Handler],
    *,
    limits: Limits,
    listener: str = "PLAINTEXT",
    meters: Meters = NOT_METERED,
) -> None:
    """Answer requests until the peer closes, or is to be closed.

    What has a handler is offered. ApiVersions needs none; one that is given brings features of its
    own (``api_versions_handler``).
    """
    room = limits.room
    if room.connections is not None and room.open_connections >= room.connections:
        return
    room.open_connections += 1
    sent = partial(_sent, connection, limits, meters)
    answers = Answers(sent, connection.abort)
    try:
        try:
            while await _serve_one(connection, handlers, limits, listener, answers, meters, sent):
                pass
        except EndOfStream:  # it sends no more, but may still read
            await answers.sent()
            raise
        finally:
            answers.check()
        await answers.sent()
    finally:
        await answers.drop()
        room.open_connections -= 1


async def _serve_one(
    connection: Connection,
    handlers: Mapping[AnyApi, Handler],
    limits: Limits,
    listener: str,
    answers: Answers,
    meters: Meters,
    sent: Callable[..., Awaitable[bool]],
) -> bool:
    """Serve one request; whether to go on."""
    with Frame(connection, limits) as frame:
        try:
            header, request = await _read(frame, handlers)
        except (WireError, TimeoutError):
            return False
        if answers:
            await answers.room_for(header)
        if request is None:
            return await sent(header, unsupported_version(), version=0)
        context = Context(header.api, header.version, header.client_id, connection.peer, listener)
        try:
            response = await _handled(handlers, context, request)
        except KafkaError as error:
            response = error_response(header.api, header.version, error)
            if response is None:
                return False
        except WireError:
            return False
        except ConnectionError:
            await answers.sent()
            raise
        if response is None:
            meters.answered(header.api, header.version, None)
            return True
        if answers or isinstance(response, Later):
            answers.add(header, response)
            return True
        return await sent(header, response)


async def _read(frame: Frame, handlers: Mapping[AnyApi, Handler]) -> tuple[Header, Message | None]:
    """The next request; its frame gives its bytes back unless the message keeps any."""
    header, request = _parsed(await frame.read(), handlers)
    if header.api is not PRODUCE:
        frame.release()
    return header, request


def _parsed(frame: Data, handlers: Mapping[AnyApi, Handler]) -> tuple[Header, Message | None]:
    """A request that is offered; or no message, where ApiVersions has an unknown version."""
    header = read_header(frame)
    api = header.api
    if not header.supported and api is API_VERSIONS:
        return header, None
    if not header.supported or (api not in handlers and api is not API_VERSIONS):
        raise WireError(f"{api.name} {header.version} is not offered")
    request, _ = api.requests.read(frame, header.version, header.body_at)
    return header, request


async def _handled(
    handlers: Mapping[AnyApi, Handler], context: Context, request: Any
) -> Message | Later[Message] | None:
    handler = handlers.get(context.api)
    if handler is None:
        return answer_api_versions(context.version, request, handlers)
    return await handler(context, request)


def error_response(api: AnyApi, version: int, error: KafkaError) -> Message | None:
    """A response that says only that; None where the API has a code for each part alone."""
    names = [field.name for field in api.responses.structs[version].fields]
    if "error_code" not in names:
        return None
    said = {"error_message": error.message or None} if "error_message" in names else {}
    response: Message = api.response(error_code=int(error.code), **said)
    return response


async def _sent(
    connection: Connection,
    limits: Limits,
    meters: Meters,
    header: Header,
    response: Message,
    *,
    version: int | None = None,
) -> bool:
    """Send an answer, in the version of its request; whether it could be."""
    meters.answered(header.api, header.version, response)
    version = header.version if version is None else version
    try:
        frame = response_frame(header.api, version, header.correlation_id, response)
    except WireError:
        return False
    try:
        await within(limits.idle_s, connection.send(frame))
    except TimeoutError:
        connection.abort()  # closing would wait for the same peer
        return False
    return True
