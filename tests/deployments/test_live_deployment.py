"""Levers and probes on processes that really run, counted by the kernel."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socketserver
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fake_nodes import SleepingNodes

from harness.cli.hashes import hashes_document
from harness.deployments import live_levers
from harness.deployments.deployment import ClientLost, Role
from harness.deployments.live import LiveDeployment
from harness.errors import LabBroken, UsageError
from harness.history import Run
from harness.levers import Lever
from harness.proxies.links import CLIENTS, LinkProxy
from reference_impl.ports import Connection, Network

pytestmark = pytest.mark.process

NAMES = ("controller", "broker-1", "broker-2")


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[SleepingNodes]:
    found = SleepingNodes(tmp_path / "disks", *NAMES)
    yield found
    found.close()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", run="1", sut="sleepers", world="process")


@pytest.fixture
def system(run: Run, nodes: SleepingNodes) -> Iterator[LiveDeployment]:
    with LiveDeployment(run, nodes, world="process", brokers=(1, 2)) as deployed:
        yield deployed


def states(system: LiveDeployment) -> dict[str, tuple[object, object]]:
    rows = system.run(system.probe("nodes"))
    return {str(row["node"]): (row["state"], row["on_purpose"]) for row in rows}


def acted(system: LiveDeployment, lever: Lever) -> dict[str, int]:
    system.run(lever.acted())
    return dict(lever.counts)


def test_a_killed_node_is_missed_on_purpose_until_it_was_started_again(
    system: LiveDeployment,
) -> None:
    lever = system.run(system.levers.kill("broker-1"))

    assert acted(system, lever) == {"processes_ended": 1}
    assert states(system)["broker-1"] == ("ended", True)
    system.run(lever.release())
    system.run(lever.release())
    assert states(system)["broker-1"] == ("running", False)


def test_killing_a_node_that_ended_by_itself_counts_nothing(
    system: LiveDeployment, nodes: SleepingNodes
) -> None:
    nodes.kill("broker-1")
    assert states(system)["broker-1"] == ("ended", False)

    lever = system.run(system.levers.kill("broker-1"))

    assert lever.counts == {"processes_ended": 0}


def test_a_node_stays_down_until_the_last_lever_that_keeps_it_down_is_released(
    system: LiveDeployment,
) -> None:
    killed = system.run(system.levers.kill("broker-1"))
    wiped = system.run(system.levers.wipe("broker-1"))

    system.run(killed.release())
    assert states(system)["broker-1"] == ("ended", True)
    system.run(wiped.release())
    assert states(system)["broker-1"] == ("running", False)


def test_a_wipe_counts_the_bytes_that_were_on_the_disk(
    system: LiveDeployment, nodes: SleepingNodes
) -> None:
    (nodes.folder / "broker-2" / "0.log").write_bytes(b"x" * 70)
    assert {"node": "broker-2", "path": "0.log", "size": 70} in system.run(system.probe("files"))

    lever = system.run(system.levers.wipe("broker-2"))

    assert lever.counts == {"processes_ended": 1, "bytes_wiped": 70}
    assert system.run(system.probe("files")) == []


def test_a_node_that_does_not_come_back_is_no_error_of_the_lab(
    system: LiveDeployment, nodes: SleepingNodes
) -> None:
    lever = system.run(system.levers.kill("controller"))
    nodes.never_ready.add("controller")

    system.run(lever.release())

    assert states(system)["controller"] == ("running", False)


def test_a_pause_counts_threads_that_the_kernel_has_stopped(system: LiveDeployment) -> None:
    first = system.run(system.levers.pause("broker-1"))
    second = system.run(system.levers.pause("broker-1"))
    assert acted(system, first) == acted(system, second) == {"threads_stopped": 1}

    system.run(first.release())
    third = system.run(system.levers.pause("broker-1"))
    assert third.counts == {"threads_stopped": 1}


def test_a_pause_that_something_else_undid_has_not_acted(
    system: LiveDeployment, nodes: SleepingNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "pause", lambda name: os.kill(nodes.pid(name) or 0, signal.SIGCONT))

    lever = system.run(system.levers.pause("broker-1"))

    assert lever.counts == {"threads_stopped": 0}


def test_what_cannot_be_done_is_not_offered_and_refused(system: LiveDeployment) -> None:
    assert system.levers.offered == {"kill", "wipe", "pause"}
    with pytest.raises(LabBroken, match="cut is not offered here; offered: kill, pause, wipe"):
        system.run(system.levers.cut(["broker-1"], ["broker-2"], both=True))
    assert system.probes == {"nodes", "files"}
    with pytest.raises(UsageError, match="metrics cannot be looked at here; what can: files"):
        system.run(system.probe("metrics"))


def test_several_runs_share_one_loop(system: LiveDeployment) -> None:
    client = system.run(system.client("p1"))

    assert system.run(system.client("p1")) is client
    assert system.nodes(Role.CLIENT) == ("client-p1",)
    assert system.nodes(Role.BROKER) == ("broker-1", "broker-2")
    assert system.nodes(Role.OBJECT_STORE) == ()


# ── clients ──────────────────────────────────────────────────────────────────────────────────────


class Echo(socketserver.BaseRequestHandler):
    """Says what it hears; while it is paused it hears and says nothing."""

    def handle(self) -> None:
        with suppress(OSError):  # a client that was killed does not hear it
            while data := self.request.recv(100):
                self.server.going.wait()
                self.request.sendall(data)


class Echoes(socketserver.ThreadingTCPServer):
    daemon_threads = True


@pytest.fixture
def echo() -> Iterator[Echoes]:
    with Echoes(("127.0.0.1", 0), Echo) as server:
        server.going = threading.Event()
        server.going.set()
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.going.set()
        server.shutdown()


@pytest.fixture
def linked(run: Run, nodes: SleepingNodes, echo: Echoes) -> Iterator[LiveDeployment]:
    """Brokers that echo, behind links."""
    links = LinkProxy(NAMES)
    for name in NAMES:
        links.lead_to(name, echo.server_address[1])
        nodes.addresses[name] = links.ways[name]
    with LiveDeployment(run, nodes, world="process", brokers=(1, 2), links=links) as deployed:
        yield deployed
    links.close()


class Talk:
    """A client that says a word to broker 1 and waits for its echo."""

    def __init__(self, system: LiveDeployment, name: str) -> None:
        self.system = system
        self.name = name
        self.connection: Connection | None = None

    async def say(self, word: bytes) -> bytes:
        async def work(network: Network) -> bytes:
            if self.connection is None:
                self.connection = await network.connect(self.system.address(1))
            await self.connection.send(word)
            return await self.connection.read_exactly(len(word))

        return await (await self.system.client(self.name)).kafka(work)


def test_a_killed_client_loses_what_it_waits_for(linked: LiveDeployment, echo: Echoes) -> None:
    async def play() -> None:
        talk = Talk(linked, "p1")
        assert await talk.say(b"one") == b"one"
        echo.going.clear()
        said = asyncio.ensure_future(talk.say(b"two"))
        await asyncio.sleep(0)
        lever = await linked.levers.kill("client-p1")
        with pytest.raises(ClientLost, match="client-p1 was killed"):
            await said
        counts = {"processes_ended": 1, "operations_open": 1, "connections_ended": 1}
        assert lever.counts == counts
        with pytest.raises(ClientLost):
            await talk.say(b"three")
        again = await linked.levers.kill("client-p1")
        assert again.counts == dict.fromkeys(counts, 0)
        await lever.release()
        echo.going.set()
        assert await Talk(linked, "p1").say(b"four") == b"four"

    linked.run(play())


def test_cancelling_the_caller_is_no_loss_of_the_client(
    linked: LiveDeployment, echo: Echoes
) -> None:
    async def play() -> None:
        talk = Talk(linked, "p1")
        await talk.say(b"one")
        echo.going.clear()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await talk.say(b"two")

    linked.run(play())


def test_a_paused_client_neither_speaks_nor_hears_and_others_do(linked: LiveDeployment) -> None:
    async def play() -> None:
        zombie, other = Talk(linked, "p1"), Talk(linked, "p2")
        await zombie.say(b"one")
        lever = await linked.levers.pause("client-p1")
        said = asyncio.ensure_future(zombie.say(b"two"))
        assert await other.say(b"three") == b"three"
        await lever.acted()
        assert lever.counts == {"callbacks_stalled": 1}
        assert not said.done()
        await lever.release()
        assert await said == b"two"

    linked.run(play())


def test_a_client_that_is_killed_while_it_is_paused_starts_afresh(linked: LiveDeployment) -> None:
    async def play() -> None:
        paused = await linked.levers.pause((await linked.client("p1")).node)
        said = asyncio.ensure_future(Talk(linked, "p1").say(b"one"))
        await paused.acted()
        killed = await linked.levers.kill("client-p1")
        with pytest.raises(ClientLost):
            await said
        await killed.release()
        assert await Talk(linked, "p1").say(b"two") == b"two"
        await paused.release()

    linked.run(play())


@pytest.mark.parametrize("cut_off", ["client-p1", CLIENTS])
def test_a_client_is_cut_off_alone_or_with_all_of_them(
    linked: LiveDeployment, cut_off: str
) -> None:
    async def play() -> None:
        one, two = Talk(linked, "p1"), Talk(linked, "p2")
        await one.say(b"one")
        await two.say(b"two")
        lever = await linked.levers.cut([cut_off], ["broker-1"], both=False)
        said = asyncio.ensure_future(one.say(b"three"))
        await lever.acted()
        if cut_off != CLIENTS:
            assert await two.say(b"four") == b"four"
        assert lever.counts == {"deliveries_held": 1, "bytes_held": 5}
        assert not said.done()
        await lever.release()
        assert await said == b"three"

    linked.run(play())


def test_a_delay_lets_everything_pass_later(linked: LiveDeployment) -> None:
    async def play() -> None:
        talk = Talk(linked, "p1")
        await talk.say(b"one")
        lever = await linked.levers.delay(["client-p1"], ["broker-1"], 0.01, both=True)
        assert await talk.say(b"two") == b"two"
        assert lever.counts == {"deliveries_delayed": 2}
        forever = await linked.levers.delay(["client-p1"], ["broker-1"], 1e6, both=False)
        said = asyncio.ensure_future(talk.say(b"three"))
        await forever.acted()
        await forever.release()
        assert await said == b"three"
        await lever.release()

    linked.run(play())


def test_what_the_lab_looks_at_is_not_cut_off_with_all_clients(linked: LiveDeployment) -> None:
    async def play() -> None:
        lever = await linked.levers.cut([CLIENTS], ["broker-1"], both=True)
        connection = await linked.network.connect(linked.address(1))
        await connection.send(b"one")
        assert await connection.read_exactly(3) == b"one"
        connection.abort()
        await lever.release()

    linked.run(play())


# ── nodes that are no processes here ─────────────────────────────────────────────────────────────


@pytest.fixture
def hooked(
    run: Run, nodes: SleepingNodes, echo: Echoes, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LiveDeployment]:
    """Brokers of which only their answers can be seen."""
    nodes.addresses = dict.fromkeys(NAMES, f"127.0.0.1:{echo.server_address[1]}")
    monkeypatch.setattr(nodes, "pid", lambda name: None)
    monkeypatch.setattr(nodes, "state", lambda name: None)
    monkeypatch.setattr(nodes, "pause", lambda name: echo.going.clear())
    monkeypatch.setattr(nodes, "resume", lambda name: echo.going.set())
    monkeypatch.setattr(live_levers, "UNANSWERED_S", 0.05)
    with LiveDeployment(run, nodes, world="external", brokers=(1, 2)) as deployed:
        yield deployed


def test_a_pause_by_hook_counts_questions_that_are_not_answered(hooked: LiveDeployment) -> None:
    lever = hooked.run(hooked.levers.pause("broker-1"))

    assert acted(hooked, lever).keys() == {"questions_unanswered"}
    hooked.run(lever.release())
    assert "nodes" not in hooked.probes


def test_a_broker_that_did_not_answer_before_shows_nothing(
    hooked: LiveDeployment, echo: Echoes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as quick:
        quick.setattr(live_levers, "ANSWERS_S", 0.05)
        echo.going.clear()
        paused = hooked.run(hooked.levers.pause("broker-1"))
        killed = hooked.run(hooked.levers.kill("broker-1"))
    echo.going.set()

    acted(hooked, hooked.run(hooked.levers.pause("broker-2")))

    assert paused.counts == {"questions_unanswered": 0}
    assert killed.counts == {"processes_ended": 0}


def test_a_broker_that_still_answers_has_not_been_killed(
    hooked: LiveDeployment, nodes: SleepingNodes, monkeypatch: pytest.MonkeyPatch, echo: Echoes
) -> None:
    lied = hooked.run(hooked.levers.kill("broker-1"))
    monkeypatch.setattr(nodes, "kill", lambda name: (echo.shutdown(), echo.server_close()))
    done = hooked.run(hooked.levers.kill("broker-2"))

    assert lied.counts == {"processes_ended": 0}
    assert done.counts == {"processes_ended": 1}
    monkeypatch.undo()


class LoggingSleepers(SleepingNodes):
    """They say who they are; one has no log."""

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        if name == "broker-2":
            raise LabBroken("its log is not there")
        return f"{name} slept\n".encode()[-most_bytes:]


def test_the_logs_of_nodes_stay_in_the_run_folder_and_are_no_evidence(
    run: Run, tmp_path: Path
) -> None:
    nodes = LoggingSleepers(tmp_path / "logging", *NAMES)
    try:
        with LiveDeployment(run, nodes, world="process", brokers=(1, 2)):
            pass
    finally:
        nodes.close()

    logs = {path.name: path.read_text() for path in (run.folder / "logs" / "process-0").iterdir()}
    assert logs == {
        "controller.log": "controller slept\n",
        "broker-1.log": "broker-1 slept\n",
    }
    assert not [name for name in json.loads(hashes_document(run.folder)) if "log" in name]
