"""Where the nodes of a process or docker deployment find their store and their control plane.

Each node has ways of its own through the proxies, so that what is done to a caller is done to it
alone. Where effects are traced, every start of a node appends to a shard of its own, whose clock is
that of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from psycopg.conninfo import make_conninfo

from harness.history import Run
from harness.processes.database import Database
from harness.processes.s3_server import SeaweedServer
from harness.proxies.postgres import PostgresProxy
from harness.proxies.s3 import S3Proxy

BUCKET = "objects"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresBehindProxy:
    """A database, and the proxy before it."""

    database: Database
    proxy: PostgresProxy

    def dsn(self, node: str) -> str:
        """How a node reaches it."""
        return make_conninfo(
            self.database.dsn,
            host=self.proxy.thread.host,
            port=self.proxy.way(node),
            sslmode="disable",
            gssencmode="disable",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class S3BehindProxy:
    """An S3 server, and the proxy before it."""

    server: SeaweedServer
    proxy: S3Proxy

    def url(self, node: str) -> str:
        """How a node reaches it."""
        return self.server.url(BUCKET, through=self.proxy.way(node))


@dataclass(slots=True, kw_only=True)
class NodeServices:
    """The options of a node that is about to be started."""

    run: Run
    slot: str
    traced: tuple[str, ...] = ()
    postgres: PostgresBehindProxy | None = None
    s3: S3BehindProxy | None = None
    _starts: int = field(default=0, init=False)

    def __call__(self, node: str) -> Sequence[str]:
        """For this start of it."""
        options: list[str] = []
        if self.s3 is not None:
            options += ["--store", self.s3.url(node)]
        if self.postgres is not None:
            options += ["--control-plane", self.postgres.dsn(node)]
        if self.traced:
            self._starts += 1
            shard = self.run.shard(f"{self.slot}-{node}-{self._starts}", node, mortal=True)
            shard.abandon()  # its first line is ours, the node appends the rest
            options += ["--trace", str(shard.path), "--clock", node]
            options += ["--trace-ports", ",".join(self.traced)]
        return options
