"""Brokers of a SUT file: found by their bootstrap address, hurt by their hook `process`.

A broker is what Metadata names, at the address it names. What the hook says it did is looked at
from outside: a broker that was killed and still answers is an error of the hook, not a fault that
landed. Whatever happens, brokers that were killed or stopped are started again in the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from kio.schema.create_topics.v7.request import CreateTopicsRequest
from kio.schema.delete_records.v2.request import DeleteRecordsRequest
from kio.schema.delete_topics.v6.request import DeleteTopicsRequest
from kio.schema.fetch.v12.request import FetchRequest
from kio.schema.list_offsets.v8.request import ListOffsetsRequest
from kio.schema.metadata.v12.request import MetadataRequest
from kio.schema.offset_for_leader_epoch.v4.request import OffsetForLeaderEpochRequest
from kio.schema.produce.v11.request import ProduceRequest

from harness.clients.admin import brokers_known, versions_offered
from harness.clients.answers import UnreadableAnswer
from harness.clients.raw import RawClient
from harness.deployments.plan import NodeState, broker_id
from harness.errors import AdapterError, CannotConnect, UsageError
from harness.sut import Sut
from harness.sut.process_hook import ProcessHook
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address
from reference_impl.ports.network import EndOfStream

ANSWERS_S = 5.0
READY_S = 120.0
GONE_S = 10.0
PAUSE_S = 0.1

ASKED = (
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
)
_LOST = (OSError, TimeoutError)


def find_brokers(sut: Sut) -> dict[int, Address]:
    """The brokers that Metadata names, by id."""
    return asyncio.run(_find_brokers(sut))


async def _find_brokers(sut: Sut) -> dict[int, Address]:
    found: dict[int, Address] = {}
    wrong = ""
    for place in (sut.bootstrap or "").split(","):
        host, _, port = place.strip().rpartition(":")
        client = RawClient(StreamNetwork(), Address(host, int(port)))
        try:
            offered = await versions_offered(client, timeout_s=ANSWERS_S)
            _check_versions(sut, offered)
            found = await brokers_known(client, timeout_s=ANSWERS_S)
        except (UnreadableAnswer, EndOfStream, TimeoutError) as lost:
            wrong = f"{place.strip()}: {_told(lost)}"
        except _LOST:
            continue
        if found:
            return dict(sorted(found.items()))
    if wrong:
        raise UsageError(f"{sut.name} is no broker that the lab can talk to at {wrong}")
    raise CannotConnect(f"no broker of {sut.name} answers at {sut.bootstrap}")


def _told(lost: OSError) -> str:
    if isinstance(lost, UnreadableAnswer):
        return f"of its answer to a first request, {lost}"
    late = isinstance(lost, TimeoutError)
    return f"it does not answer within {ANSWERS_S:g} s" if late else "it hangs up without an answer"


def _check_versions(sut: Sut, offered: Mapping[int, tuple[int, int]]) -> None:
    for request in ASKED:
        least, most = offered.get(int(request.__api_key__), (0, -1))
        if not least <= request.__version__ <= most:
            name = request.__name__.removesuffix("Request")
            told = f"offers {least} to {most}" if most >= 0 else "does not offer it"
            raise CannotConnect(
                f"the lab asks {name} in version {request.__version__}, and {sut.name} {told}"
            )


class ExternalNodes:
    """The brokers of a SUT file, by name."""

    def __init__(self, addresses: Mapping[int, Address], hook: ProcessHook | None) -> None:
        self._addresses = addresses
        self._hook = hook
        self._undo: dict[int, str] = {}

    @contextlib.contextmanager
    def mended(self) -> Iterator[ExternalNodes]:
        """At the end no broker is left down or stopped."""
        try:
            yield self
        finally:
            for node, verb in list(self._undo.items()):
                with contextlib.suppress(AdapterError):
                    self._order(verb, node)

    def address(self, name: str) -> str:
        """As Metadata named it in the beginning."""
        found = self._addresses[broker_id(name)]
        return f"{found.host}:{found.port}"

    def state(self, name: str) -> NodeState | None:
        """Cannot be seen."""
        return None

    def pid(self, name: str) -> int | None:
        """Cannot be seen."""
        return None

    def data_folder(self, name: str) -> Path | None:
        """Cannot be seen."""
        return None

    def start(self, name: str) -> None:
        """By the hook."""
        self._order("start", broker_id(name))

    def wait(self, name: str) -> None:
        """Until it answers and names itself."""
        if not self._comes_true(name, answering=True, within_s=READY_S):
            raise AdapterError(f"{name} was started and does not answer within {READY_S:g} s")

    def kill(self, name: str) -> None:
        """By the hook; it must not answer any more."""
        self._order("kill", broker_id(name))
        if not self._comes_true(name, answering=False, within_s=GONE_S):
            raise AdapterError(f"the hook process killed {name}, which still answers")

    def wipe(self, name: str) -> None:
        """By the hook."""
        self._order("wipe", broker_id(name))

    def pause(self, name: str) -> None:
        """By the hook; what it leaves unanswered shows whether it landed."""
        self._order("pause", broker_id(name))

    def resume(self, name: str) -> None:
        """By the hook."""
        self._order("resume", broker_id(name))

    def _order(self, verb: str, node: int) -> None:
        if self._hook is None:
            raise AdapterError("there is no hook process")
        undone_by = {"kill": "start", "pause": "resume"}
        if verb in undone_by:
            self._undo[node] = undone_by[verb]
        self._hook.order(verb, node)
        if verb in undone_by.values():
            self._undo.pop(node, None)

    def _comes_true(self, name: str, *, answering: bool, within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        while self._answers(broker_id(name)) != answering:
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_S)
        return True

    def _answers(self, node: int) -> bool:
        client = RawClient(StreamNetwork(), self._addresses[node])
        try:
            return node in asyncio.run(brokers_known(client, timeout_s=ANSWERS_S))
        except _LOST:
            return False
