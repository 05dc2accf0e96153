"""Orders to a cluster of `serve`, one line each over a socket: what a hook program cannot do alone.

    start 2          start broker 2 again, with the disk it has
    cut 1 controller     hold what broker 1 sends the controller
    slow 1 2 300     let it arrive 300 ms late
    held 1 2         how many deliveries were held, or late, since then
    heal 1 2         let everything pass

The answer is one line: `ok`, a number, or what is wrong. `nodes.json` beside the socket names the
process and the disk of every node, so that others can kill, stop and empty them.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.deployments.plan import CONTROLLER, broker_name
from harness.deployments.process_cluster import ProcessCluster
from harness.errors import LabError, UsageError
from harness.proxies.links import Cut, LinkProxy

SOCKET, NODES = "orders.sock", "nodes.json"
LINE_BYTES = 1024


class Orders:
    """Carries out orders on a cluster whose nodes reach each other through a link proxy."""

    def __init__(self, cluster: ProcessCluster, links: LinkProxy, folder: Path) -> None:
        self._cluster = cluster
        self._links = links
        self._folder = folder
        self._cuts: dict[tuple[str, str], Cut] = {}
        self._lock = threading.Lock()
        self.tell()

    def tell(self) -> None:
        """Write down where the nodes are."""
        names = self._cluster.plan.node_names
        told = {
            called(name): {
                "pid": self._cluster.pid(name),
                "data": str(self._cluster.data_folder(name).absolute()),
            }
            for name in names
        }
        fresh = self._folder / f"{NODES}.new"
        fresh.write_text(json.dumps(told, indent=1), encoding="utf-8")
        fresh.replace(self._folder / NODES)

    def carry_out(self, line: str) -> str:
        """What is answered to one order."""
        try:
            with self._lock:
                return self._carried_out(*line.split())
        except (LabError, TypeError, ValueError) as wrong:
            return f"not understood: {line.strip()[:80]!r}: {wrong}"

    def _carried_out(self, verb: str, *about: str) -> str:
        if verb == "start":
            (name,) = self._named(about)
            if not self._cluster.state(name).running:
                self._cluster.kill(name)  # what is left of it
                self._cluster.start(name)
                self.tell()
            return "ok"
        source, target = self._named(about[:2])
        link = (source, target)
        if verb in ("cut", "slow"):
            seconds = int(about[2]) / 1000 if verb == "slow" else None
            self._heal(link)
            self._cuts[link] = self._links.cut_between(
                [source], [target], both=False, seconds=seconds
            )
            return "ok"
        if verb == "held":
            return str(self._cuts[link].deliveries_held if link in self._cuts else 0)
        if verb == "heal":
            self._heal(link)
            return "ok"
        raise UsageError("known are start, cut, slow, held and heal")

    def _heal(self, link: tuple[str, str]) -> None:
        if link in self._cuts:
            self._links.heal(self._cuts.pop(link))

    def _named(self, words: tuple[str, ...]) -> list[str]:
        names = [CONTROLLER if one == CONTROLLER else broker_name(int(one)) for one in words]
        for one in names:
            if one not in self._cluster.plan.node_names:
                raise UsageError(f"there is no {one}")
        return names


def called(name: str) -> str:
    """A broker by its id."""
    return name if name == CONTROLLER else name.rpartition("-")[2]


@contextmanager
def taking_orders(cluster: ProcessCluster, links: LinkProxy, folder: Path) -> Iterator[Orders]:
    """Take orders at a socket in a folder, until it is left."""
    orders = Orders(cluster, links, folder)

    class Caller(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            line = self.rfile.readline(LINE_BYTES).decode("utf-8", "replace")
            self.wfile.write(f"{orders.carry_out(line)}\n".encode())

    path = folder / SOCKET
    path.unlink(missing_ok=True)
    with socketserver.UnixStreamServer(str(path), Caller) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield orders
        finally:
            server.shutdown()
            path.unlink(missing_ok=True)
