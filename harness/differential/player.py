"""Plays a sequence against a cluster and returns its answers, normalised.

After each request that makes, grows or deletes topics it waits until the cluster has done so
(`settling.py`); that is not part of the answers. Everything else that needs waiting says so in the
sequence, by `until`.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from typing import Any

from harness.clients.connection import Connection, Silence
from harness.differential.sequence import RequestSequence, Step, lookup
from harness.differential.settling import (
    PAUSE_S,
    SETTLE_S,
    NotPrepared,
    await_gone,
    await_there,
    brokers,
    metadata,
)
from harness.differential.symbols import Symbols, UnknownSymbol

AFTER_WAITING_S = 0.05
"""A broker names a new config a moment before its logs obey it."""

SETTLING = "settling"
AT_BROKER = re.compile(r"broker:(\d+)(?:/\w+)?")

Answer = Mapping[str, Any]


def play(
    sequence: RequestSequence, bootstrap: tuple[str, int], *, timeout_s: float = 20.0
) -> list[Answer | None]:
    """The answer of each step, None for the steps that are not compared."""
    with _Play(bootstrap, timeout_s, sequence.brokers) as game:
        return [game.take(step) for step in sequence.steps]


def size_of(bootstrap: tuple[str, int]) -> int:
    """How many brokers a cluster has."""
    with Connection(*bootstrap, timeout_s=SETTLE_S) as connection:
        return len(brokers(connection)["brokers"])


class _Play:
    def __init__(self, bootstrap: tuple[str, int], timeout_s: float, size: int) -> None:
        self._bootstrap = bootstrap
        self._timeout_s = timeout_s
        self._connections: dict[str, Connection] = {}
        cluster = brokers(self._connection(SETTLING), at_least=size)
        self._places = {one["node_id"]: (one["host"], one["port"]) for one in cluster["brokers"]}
        self.symbols = Symbols(
            token="d" + secrets.token_hex(4),
            now_ms=int(time.time() * 1000),
            brokers=sorted(self._places),
            cluster_id=cluster["cluster_id"],
        )

    def __enter__(self) -> _Play:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._connections.values():
            one.close()

    def _connection(self, name: str) -> Connection:
        known = self._connections.get(name)
        if known is None or known.closed:
            known = Connection(*self._place(name), timeout_s=self._timeout_s)
            self._connections[name] = known
        return known

    def _place(self, name: str) -> tuple[str, int]:
        """`broker:1` goes to the cluster's second broker, every other name to the one we know."""
        found = AT_BROKER.fullmatch(name)
        return self._places[self.symbols.brokers[int(found[1])]] if found else self._bootstrap

    def _everywhere(self) -> dict[int, Connection]:
        """A connection to each broker, for waiting."""
        return {
            broker: self._connection(f"broker:{at}/{SETTLING}")
            for at, broker in enumerate(self.symbols.brokers)
        }

    def take(self, step: Step) -> Answer | None:
        """One step, asked as often as its `until` wants."""
        try:
            answer = self._ask_until(step)
        except UnknownSymbol as problem:
            return {"not_asked": str(problem)} if step.compared else None
        except Silence:
            self._connections.pop(step.on).close()
            return {"connection": "silent"} if step.compared else None
        return answer if step.compared else None

    def _ask_until(self, step: Step) -> Answer:
        deadline = time.monotonic() + SETTLE_S
        while True:
            raw = self._ask(step)
            self.symbols.learn_topic_ids(raw)
            self._save(step, raw)
            self._settle(step, raw)
            shown = self.symbols.only_own_topics(raw) if step.own_topics else raw
            answer: Answer = self.symbols.normalise(shown)
            if time.monotonic() > deadline or _has(answer, step.until):
                if step.until and not step.compared:
                    time.sleep(AFTER_WAITING_S)
                return answer
            time.sleep(PAUSE_S)

    def _ask(self, step: Step) -> Answer:
        fields = self._resolve(step.fields)
        connection = self._connection(step.on)
        if step.frame is not None:
            return connection.ask_frame(step.api, step.version, bytes.fromhex(step.frame))
        if step.body is not None:
            return connection.ask_raw(step.api, step.version, bytes.fromhex(step.body))
        return connection.ask(step.api, step.version, fields)

    def _resolve(self, fields: Mapping[str, Any]) -> Any:
        """Topic ids are looked up when first needed, if no answer has told them yet."""
        try:
            return self.symbols.resolve(fields)
        except UnknownSymbol as problem:
            missing = str(problem).split()[0]
            if not missing.startswith("$topic_id:"):
                raise
            name = self.symbols.topic(missing.removeprefix("$topic_id:"))
            self.symbols.learn_topic_ids(metadata(self._connection(SETTLING), [name]))
            return self.symbols.resolve(fields)

    def _save(self, step: Step, answer: Answer) -> None:
        for name, path in step.save.items():
            try:
                self.symbols.references[name] = lookup(answer, path)
            except KeyError:
                self.symbols.references.pop(name, None)

    def _settle(self, step: Step, answer: Answer) -> None:
        if step.api not in ("create_topics", "create_partitions", "delete_topics"):
            return
        if "connection" in answer and not step.compared:
            raise NotPrepared(f"the cluster hung up on {step.api} v{step.version}")
        results = answer.get("topics", answer.get("results", answer.get("responses", [])))
        bad = [one for one in results if one["error_code"] != "NONE"]
        if bad and not step.compared:
            raise NotPrepared(f"the cluster refused what a sequence begins with: {bad[0]}")
        done = [one["name"] for one in results if one not in bad and one["name"]]
        if not done or step.fields.get("validate_only"):
            return
        if step.api == "delete_topics":
            await_gone(self._everywhere(), done)
        else:
            asked = self.symbols.resolve(step.fields["topics"])
            counts = {one["name"]: one.get("count", 1) for one in asked if one["name"] in done}
            await_there(self._everywhere(), counts)


def _has(answer: Answer, until: Mapping[str, Any]) -> bool:
    for path, value in until.items():
        try:
            if lookup(answer, path) != value:
                return False
        except KeyError:
            return False
    return True
