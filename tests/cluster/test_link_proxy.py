"""Links that can be cut: who comes is told by an address, its own or the one it calls."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.deployments.plan import CONTROLLER, DeploymentPlan
from harness.proxies.links import Cut, LinkProxy, host_between, host_of

PLAN = DeploymentPlan(brokers=3)
PATIENCE_S = 30.0


@pytest.fixture
def links() -> Iterator[LinkProxy]:
    proxy = LinkProxy(PLAN.node_names, for_each_pair=True)
    with echo() as port:
        for name in PLAN.names:
            proxy.lead_to(name, port)
        yield proxy
        proxy.close()


@contextmanager
def echo() -> Iterator[int]:
    """A port at which everything comes back."""

    def serve(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(100):
                connection.sendall(data)

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def calling(links: LinkProxy, caller: str, target: str) -> socket.socket:
    """As a node that cannot choose its own address calls another."""
    place = (host_between(caller, target), links.ports[target])
    return socket.create_connection(place, timeout=PATIENCE_S)


def heard(connection: socket.socket) -> bytes:
    connection.sendall(b"x")
    return connection.recv(100)


def is_held(cut: Cut, connection: socket.socket) -> bool:
    """Say something; the proxy has it, and nothing came back."""
    connection.sendall(b"x")
    deadline = time.monotonic() + PATIENCE_S
    while not cut.bytes_held and time.monotonic() < deadline:
        time.sleep(0)
    connection.setblocking(False)
    try:
        return not connection.recv(100)
    except BlockingIOError:
        return cut.bytes_held > 0
    finally:
        connection.settimeout(PATIENCE_S)


def test_who_calls_is_told_by_the_address_it_calls(links: LinkProxy) -> None:
    with (
        calling(links, "broker-1", "broker-2") as cut,
        calling(links, "broker-3", "broker-2") as ok,
    ):
        assert heard(cut) == b"x"
        made = links.cut("broker-1", ["broker-2"])
        assert is_held(made, cut)
        assert heard(ok) == b"x"
        links.heal(made)
        assert cut.recv(100) == b"x"
    assert made.evidence == {"deliveries_held": 1, "bytes_held": 1}


def test_who_calls_is_told_by_the_address_it_comes_from(links: LinkProxy) -> None:
    place = ("127.0.0.1", links.ports["broker-2"])
    came = (host_of("broker-1"), 0)
    with socket.create_connection(place, PATIENCE_S, source_address=came) as cut:
        assert heard(cut) == b"x"
        made = links.cut("broker-1", ["broker-2"])
        assert is_held(made, cut)
        links.heal(made)
        assert cut.recv(100) == b"x"


def test_a_cut_one_way_holds_answers_to_others(links: LinkProxy) -> None:
    with calling(links, "broker-2", "broker-1") as asking:
        assert heard(asking) == b"x"
        made = links.cut("broker-1", ["broker-2"], both=False)
        assert is_held(made, asking)  # the question arrives, its answer is held
        links.heal(made)
        assert asking.recv(100) == b"x"


def test_clients_still_reach_a_node_that_is_cut_off(links: LinkProxy) -> None:
    links.cut("broker-2", [CONTROLLER, "broker-1", "broker-3"])
    place = ("127.0.0.1", links.ports["broker-2"])
    with socket.create_connection(place, PATIENCE_S) as client:
        assert heard(client) == b"x"


def test_a_node_finds_each_other_at_an_address_that_is_its_own() -> None:
    names = (CONTROLLER, *PLAN.names)
    hosts = [host_between(one, other) for one in names for other in names]
    assert len(set(hosts)) == len(hosts)
    assert not set(hosts) & {host_of(name) for name in names}


def test_a_proxy_that_was_closed_listens_nowhere(links: LinkProxy) -> None:
    links.close()
    with pytest.raises(ConnectionRefusedError):
        calling(links, "broker-1", "broker-2")
