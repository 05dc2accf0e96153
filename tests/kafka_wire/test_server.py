"""The server over TCP: order, refusals, and answers to what is hardly a request."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import pytest
from wire_server import (
    HANDLERS,
    framed,
    is_closed,
    metadata_frame,
    produce_frame,
    read_frame,
    run,
    serving,
)

from reference_impl.kafka.api_versions import Features, api_versions_handler
from reference_impl.kafka.apis import API_VERSIONS, FETCH, METADATA, PRODUCE, Api, offered_by
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.frames import request_frame
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context


def header(key: int, version: int) -> bytes:
    return struct.pack(">hhih", key, version, 7, 2) + b"me"


def test_requests_sent_all_at_once_are_answered_in_order() -> None:
    release = asyncio.Event()

    async def slow_at_first(context: Context, request: Any) -> Message:
        if context.client_id == "first":
            await release.wait()
        return METADATA.response()

    async def scenario() -> list[int]:
        async with serving({METADATA: slow_at_first}) as connect:
            connection = await connect()
            names = ["first", *["later"] * 20]
            await connection.send(b"".join(metadata_frame(n, 9, c) for n, c in enumerate(names)))
            asyncio.get_running_loop().call_soon(release.set)
            return [struct.unpack(">i", (await read_frame(connection))[:4])[0] for _ in names]

    assert run(scenario) == list(range(21))


def test_a_request_may_come_one_byte_at_a_time() -> None:
    async def scenario() -> Message:
        async with serving() as connect:
            connection = await connect()
            for byte in metadata_frame(5):
                await connection.send(bytes((byte,)))
                await asyncio.sleep(0)
            answer = await read_frame(connection)
            return METADATA.decode_response(answer[5:], 9)

    assert run(scenario).brokers[0].host == "me"


def test_a_frame_torn_by_the_end_of_the_connection_is_nobodys_fault() -> None:
    async def scenario() -> None:
        async with serving() as connect:
            torn = await connect()
            await torn.send(metadata_frame(1)[:-3])
            await torn.close()
            other = await connect()
            await other.send(metadata_frame(2))
            assert (await read_frame(other))[:4] == struct.pack(">i", 2)

    run(scenario)


def test_acks_0_gets_no_answer_and_the_next_request_does() -> None:
    async def scenario() -> bytes:
        async with serving() as connect:
            connection = await connect()
            await connection.send(produce_frame(1, b"x", acks=0) + metadata_frame(2))
            return await read_frame(connection)

    assert run(scenario)[:4] == struct.pack(">i", 2)


CLOSED = {
    "an unknown API": framed(header(999, 0)),
    "a negative API": framed(header(-1, 0)),
    "an API without a handler": framed(header(2, 1) + struct.pack(">ii", -1, 0)),
    "an API of controllers": framed(header(56, 3) + b"\0" + bytes(16)),
    "a version too new": framed(header(3, 99) + b"\0"),
    "a negative version": framed(header(3, -1)),
    "Produce 0, which is named but not offered": framed(header(0, 0) + bytes(20)),
    "InitProducerId 6, which is not offered yet": framed(header(22, 6) + bytes(6)),
    "no header": framed(b""),
    "half a header": framed(header(3, 1)[:9]),
    "a body too short": framed(header(3, 1) + b"\0\0\0"),
    "an absurd array": framed(header(3, 1) + b"\x7f\xff\xff\xff"),
    "a negative size": struct.pack(">i", -1),
    "a size above the limit": struct.pack(">i", 104857601),
    "ApiVersions too new without the tags of its header": framed(header(18, 9)),
}


@pytest.mark.parametrize("data", CLOSED.values(), ids=CLOSED)
def test_what_is_no_request_closes_the_connection(data: bytes) -> None:
    async def scenario() -> bool:
        async with serving() as connect:
            connection = await connect()
            await connection.send(data)
            return await is_closed(connection)

    assert run(scenario)


ANSWERED = {
    "bytes after the end": framed(header(3, 1) + bytes(4) + b"abc"),
    "no client id": framed(struct.pack(">hhih", 3, 1, 7, -1) + bytes(4)),
    "a client id of negative length": framed(struct.pack(">hhih", 3, 1, 7, -2) + bytes(4)),
    "a client id that is no text": framed(
        struct.pack(">hhih", 3, 1, 7, 2) + b"\xff\xfe" + bytes(4)
    ),
}


@pytest.mark.parametrize("data", ANSWERED.values(), ids=ANSWERED)
def test_what_kafka_puts_up_with_is_answered(data: bytes) -> None:
    async def scenario() -> bytes:
        async with serving() as connect:
            connection = await connect()
            await connection.send(data)
            return await read_frame(connection)

    assert run(scenario)[:4] == struct.pack(">i", 7)


def api_versions(version: int, handlers: Any = HANDLERS, **fields: Any) -> Message:
    request = API_VERSIONS.request(**fields)

    async def scenario() -> bytes:
        async with serving(handlers) as connect:
            connection = await connect()
            await connection.send(request_frame(API_VERSIONS, version, 7, "me", request))
            return await read_frame(connection)

    return API_VERSIONS.decode_response(run(scenario)[4:], version)


SOFTWARE = {"client_software_name": "a-lib", "client_software_version": "1.2"}


@pytest.mark.parametrize("version", API_VERSIONS.versions)
def test_api_versions_names_what_has_a_handler(version: int) -> None:
    answer = api_versions(version, **(SOFTWARE if version >= 3 else {}))

    named = [(row.api_key, row.min_version, row.max_version) for row in answer.api_keys]
    assert named == [(0, 0, 13), (1, 4, 18), (3, 0, 13), (18, 0, 4)]
    assert answer.error_code == 0


@pytest.mark.parametrize("data", [header(18, 9) + b"\0rest", header(18, -1)])
def test_an_unknown_version_of_api_versions_gets_the_answer_of_version_0(data: bytes) -> None:
    async def scenario() -> list[bytes]:
        async with serving() as connect:
            connection = await connect()
            await connection.send(framed(data) + metadata_frame(8))
            return [await read_frame(connection) for _ in range(2)]

    refused, next_answer = run(scenario)

    assert refused == b"\0\0\0\x07\x00\x23\0\0\0\x01\x00\x12\x00\x00\x00\x04"  # as Kafka says it
    assert next_answer[:4] == struct.pack(">i", 8)


@pytest.mark.parametrize("name", ["", "-", "a b", "ends-", "ü", "a\n"])
def test_a_client_that_does_not_name_its_software_is_refused(name: str) -> None:
    answer = api_versions(3, client_software_name=name, client_software_version="1")

    assert (answer.error_code, answer.api_keys) == (ErrorCode.invalid_request, [])


def test_features_that_begin_at_0_are_told_from_version_4_on() -> None:
    features = Features(
        supported={"metadata.version": (7, 30), "group.version": (0, 1)},
        finalized={"metadata.version": 30},
        epoch=5,
    )
    handlers = {API_VERSIONS: api_versions_handler([METADATA], lambda: features)}

    told = {v: api_versions(v, handlers, **SOFTWARE) for v in (3, 4)}

    assert [row.name for row in told[3].supported_features] == ["metadata.version"]
    assert [row.name for row in told[4].supported_features] == ["metadata.version", "group.version"]
    assert told[4].finalized_features_epoch == 5
    assert told[4].finalized_features[0].max_version_level == 30


def fetch_frame(version: int) -> bytes:
    return request_frame(FETCH, version, 7, "me", FETCH.request())


def test_a_kafka_error_is_answered_where_the_whole_response_has_a_code() -> None:
    async def scenario() -> bytes:
        async with serving() as connect:
            connection = await connect()
            await connection.send(fetch_frame(12))
            return await read_frame(connection)

    answer = FETCH.decode_response(run(scenario)[5:], 12)
    assert answer.error_code == ErrorCode.fetch_session_id_not_found


def test_a_kafka_error_closes_the_connection_where_it_has_none() -> None:
    async def scenario() -> bool:
        async with serving() as connect:
            connection = await connect()
            await connection.send(fetch_frame(6))
            return await is_closed(connection)

    assert run(scenario)


@pytest.mark.parametrize("failure", [ValueError("a bug"), TimeoutError("a bug"), KeyError(1)])
def test_a_handler_that_fails_is_reported_and_its_connection_reset(failure: Exception) -> None:
    async def fails(context: Context, request: Any) -> Message:
        raise failure

    async def scenario() -> bool:
        async with serving({METADATA: fails}) as connect:
            connection = await connect()
            await connection.send(metadata_frame(1))
            return await is_closed(connection)

    assert run(scenario, uncaught=1)


def test_a_handler_may_hang_up() -> None:
    async def hangs_up(context: Context, request: Any) -> Message:
        raise ConnectionAbortedError("a produce with acks=0 failed")

    async def scenario() -> bool:
        async with serving({METADATA: hangs_up}) as connect:
            connection = await connect()
            await connection.send(metadata_frame(1))
            return await is_closed(connection)

    assert run(scenario)


def test_five_hundred_connections_are_served_at_once() -> None:
    async def scenario() -> list[bytes]:
        async with serving() as connect:
            connections = [await connect() for _ in range(500)]
            for number, connection in enumerate(connections):
                await connection.send(metadata_frame(number))
            return [(await read_frame(connection))[:4] for connection in connections]

    assert run(scenario) == [struct.pack(">i", number) for number in range(500)]


@pytest.mark.parametrize("api", offered_by("broker"), ids=lambda api: api.name)
def test_every_version_of_every_api_reaches_its_handler(api: Api) -> None:
    reached: list[int] = []

    async def note(context: Context, request: Any) -> Message | None:
        assert isinstance(request, api.request)
        reached.append(context.version)
        return None

    async def scenario() -> None:
        async with serving({api: note, PRODUCE: note} | {api: note}) as connect:
            connection = await connect()
            for version in api.versions:
                arrays = {f.name: [] for f in api.requests.structs[version].plain if f.array}
                await connection.send(request_frame(api, version, 1, "me", api.request(**arrays)))
            await connection.send(struct.pack(">i", -1))
            assert await is_closed(connection)

    run(scenario)
    assert reached == list(api.versions)
