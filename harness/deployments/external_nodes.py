"""Brokers of a SUT file: found by their bootstrap address, hurt by their hook `process`.

A broker is what Metadata names, at the address it names. What the hook says it did is looked at
from outside: a broker that was killed and still answers is an error of the hook, not a fault that
landed. Whatever happens, brokers that were killed or stopped are started again in the end; after a
SIGKILL of the lab, at the begin of its next run on them (`external_journal.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.clients.admin import brokers_known, versions_offered
from harness.clients.answers import UnreadableAnswer
from harness.clients.asked import ESSENTIAL, first_lacking, lacking
from harness.clients.raw import RawClient
from harness.clients.versions import Offered, OfferedAddress
from harness.deployments.external_journal import Journal
from harness.deployments.plan import CONTROLLER, NodeState, broker_id
from harness.errors import AdapterError, CannotConnect, NoAnswer, ProtocolBreach, shown
from harness.sut import Sut
from harness.sut.process_hook import ProcessHook
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address
from reference_impl.ports.network import EndOfStream

ANSWERS_S = 5.0
READY_S = 120.0
GONE_S = 10.0
PAUSE_S = 0.1

_LOST = (OSError, TimeoutError)
_UNDONE_BY = {"kill": "start", "pause": "resume", "cut": "heal", "slow": "heal"}


def find_brokers(sut: Sut) -> dict[int, OfferedAddress]:
    """The brokers that Metadata names, by id, and what they offer."""
    return asyncio.run(_find_brokers(sut))


async def _find_brokers(sut: Sut) -> dict[int, OfferedAddress]:
    found: dict[int, Address] = {}
    wrong = ""
    for place in (sut.bootstrap or "").split(","):
        host, _, port = place.strip().rpartition(":")
        there = Address(host, int(port))
        try:
            offered = await versions_offered(RawClient(StreamNetwork(), there), timeout_s=ANSWERS_S)
            _check_essential(sut, offered)
            client = RawClient(StreamNetwork(), OfferedAddress.of(there, offered))
            found = await brokers_known(client, timeout_s=ANSWERS_S)
        except (UnreadableAnswer, EndOfStream, TimeoutError) as lost:
            wrong = f"{place.strip()}: {_told(lost)}"
        except _LOST:
            continue
        if found:
            return {one: OfferedAddress.of(found[one], offered) for one in sorted(found)}
    if wrong:
        raise NoAnswer(f"{sut.name} is no broker that the lab can talk to at {wrong}")
    raise CannotConnect(f"no broker of {sut.name} answers at {sut.bootstrap}")


def _told(lost: OSError) -> str:
    if isinstance(lost, UnreadableAnswer):
        return f"of its answer to a first request, {lost}"
    late = isinstance(lost, TimeoutError)
    if late:
        return f"it does not answer within {ANSWERS_S:g} s"
    return "it hangs up without an answer; SASL and TLS cannot be judged yet"


def _check_essential(sut: Sut, offered: Offered) -> None:
    """Without these nothing could be seen of it; what else is missing costs the rules about it."""
    if (why := first_lacking(ESSENTIAL, lacking(offered))) is not None:
        raise CannotConnect(f"{sut.name} cannot be judged: {why}")


class ExternalNodes:
    """The brokers of a SUT file, by name."""

    def __init__(
        self,
        addresses: Mapping[int, OfferedAddress],
        hook: ProcessHook | None,
        journal: Journal | None = None,
    ) -> None:
        self._addresses = addresses
        self._journal = journal
        self._hook = hook
        self._undo: dict[tuple[str, ...], str] = {}
        self.verbs = frozenset() if hook is None or not addresses else hook.verbs()

    @contextlib.contextmanager
    def mended(self) -> Iterator[ExternalNodes]:
        """At the end no broker is left down or stopped."""
        try:
            yield self
        finally:
            for about, verb in list(self._undo.items()):
                with contextlib.suppress(AdapterError):
                    self._order(verb, *about)

    @property
    def offered(self) -> Offered:
        """What its brokers answer, by the word of the first that was asked."""
        return next((one.offered for one in self._addresses.values()), {})

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
        self._order("start", _called(name))

    def wait(self, name: str) -> None:
        """Until it answers and names itself."""
        if not self._comes_true(name, answering=True, within_s=READY_S):
            raise AdapterError(f"{name} was started and does not answer within {READY_S:g} s")

    def kill(self, name: str) -> None:
        """By the hook; it must not answer any more."""
        self._order("kill", _called(name))
        if not self._comes_true(name, answering=False, within_s=GONE_S):
            raise AdapterError(f"the hook process killed {name}, which still answers")

    def wipe(self, name: str) -> None:
        """By the hook."""
        self._order("wipe", _called(name))

    def pause(self, name: str) -> None:
        """By the hook; what it leaves unanswered shows whether it landed."""
        self._order("pause", _called(name))

    def resume(self, name: str) -> None:
        """By the hook."""
        self._order("resume", _called(name))

    def cut(self, source: str, target: str, seconds: float | None = None) -> None:
        """By the hook: nothing that one node sends reaches another, or so many seconds late."""
        late = () if seconds is None else (str(round(1000 * seconds)),)
        self._order("slow" if late else "cut", _called(source), _called(target), *late)

    def heal(self, source: str, target: str) -> None:
        """By the hook."""
        self._order("heal", _called(source), _called(target))

    def held(self, source: str, target: str) -> int:
        """How much was held back or late on a link, as the hook counts it."""
        said = self._order("held", _called(source), _called(target)).strip()
        if not said.isdecimal():
            raise ProtocolBreach(
                f"the hook process was asked what it holds from {source} to {target}.",
                got=shown(said.encode()),
                want="one number",
                see="the-hook-process",
            )
        return int(said)

    def _order(self, verb: str, *about: str) -> str:
        if self._hook is None:
            raise AdapterError("there is no hook process")
        of_node = about[:1] if verb in ("start", "kill", "pause", "resume") else about[:2]
        if verb in _UNDONE_BY:
            self._undo[of_node] = _UNDONE_BY[verb]
            if self._journal is not None:
                self._journal.owes(_UNDONE_BY[verb], *of_node)
        said = self._hook.order(verb, *about)
        if verb in _UNDONE_BY.values():
            self._undo.pop(of_node, None)
            if self._journal is not None:
                self._journal.paid(*of_node)
        return said

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


def _called(name: str) -> str:
    """How the hook calls a node: brokers by their ids."""
    return name if name == CONTROLLER else str(broker_id(name))
