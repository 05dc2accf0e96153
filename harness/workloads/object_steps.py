"""What clients of the object store do: put and get objects, recorded as a key-value store.

    w1  put   key=wal/1 value=first
    w2  get   key=wal/1

A put whose reply is lost may have happened; a get that fails has had no effect. Histories are
judged key by key as linearizable (`./tidemark check RUN --model kv`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from harness.deployments.deployment import ClientLost, Deployment
from harness.steps.step import Step
from harness.steps.vocabulary import Vocabulary, verb
from reference_impl.ports import ObjectStore
from reference_impl.ports.object_store import ObjectNotFound, StoreError, check_key

KEYS = ("wal/1", "wal/2")
VALUES = ("first", "second", "third")


class ObjectSteps(Vocabulary):
    """The verbs of the object store's clients, on one deployment."""

    def __init__(self, deployment: Deployment) -> None:
        self._on = deployment
        self._recorder = deployment.recorder

    @classmethod
    def read_line(cls, actor: str, verb: str, words: Sequence[str], line: int | None) -> Step:
        """The step of a line whose key can be one of an object."""
        step = super().read_line(actor, verb, words, line)
        if "key" in step.arguments:
            check_key(step.arguments["key"])
        return step

    @verb(key=KEYS, value=VALUES)
    async def put(self, step: Step, key: str, value: str) -> None:
        """Store an object whole."""

        async def put(store: ObjectStore) -> str:
            await store.put(key, value.encode())
            return value

        await self._ask(step.actor, "put", key, value, put, lost="info")

    @verb(key=KEYS)
    async def get(self, step: Step, key: str) -> None:
        """Read an object; one that is not there reads as nothing."""

        async def get(store: ObjectStore) -> str | None:
            try:
                return (await store.get(key)).decode("utf-8", "replace")
            except ObjectNotFound:
                return None

        await self._ask(step.actor, "get", key, None, get, lost="fail")

    async def _ask(
        self,
        by: str,
        f: str,
        key: str,
        value: str | None,
        work: Callable[[ObjectStore], Awaitable[str | None]],
        *,
        lost: str,
    ) -> None:
        client = await self._on.client(by)
        await client.ready()
        operation = self._recorder.invoke(by, f, {"key": key, "value": value})
        try:
            told = await client.store(work)
        except (StoreError, ClientLost) as problem:
            self._recorder.finish(operation, lost, {"error": type(problem).__name__})
        else:
            self._recorder.finish(operation, "ok", {"value": told})
