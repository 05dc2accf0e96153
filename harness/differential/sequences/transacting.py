"""Short ways to say the requests of transactional producers and their coordinators.

A transactional id is named like a topic of the play, so that plays do not share it. The markers of
a transaction are written after its end was answered: `settled` waits for them, uncompared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clients.batches import TRANSACTIONAL
from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import Said, batch, fetch, fetched, produce

GROUP, TRANSACTION, SHARE = 0, 1, 2
TIMEOUT_MS = 60_000
MAX_TIMEOUT_MS = 900_000
"""What Kafka lets a producer ask for at most, unless told otherwise."""
COMMITTED_ONLY = 1
FIRST_OF_MANY = 4
"""AddPartitionsToTxn and FindCoordinator take lists from here on."""

Topics = Mapping[str, Sequence[int]]


def story(name: str, about: str, *steps: Step) -> RequestSequence:
    """A sequence of this family."""
    return RequestSequence(name=f"transactions/{name}", about=about, steps=steps)


def named(transactional_id: str | None) -> str | None:
    """A transactional id of this play; None and the empty one are as they are."""
    if not transactional_id:
        return transactional_id
    return f"$topic:{transactional_id}"


def find(*keys: str, kind: int = TRANSACTION, version: int = 6, **more: Any) -> Step:
    """FindCoordinator, of the first key alone where versions know no lists."""
    fields: dict[str, Any] = {"key_type": kind} if version >= 1 else {}
    if version >= FIRST_OF_MANY:
        fields["coordinator_keys"] = list(keys)
    else:
        fields["key"] = keys[0]
    return Step(api="find_coordinator", version=version, fields=fields, **more)


def coordinated(key: str = "$topic:t", kind: int = TRANSACTION) -> Step:
    """Wait until there is a coordinator: its topic is made when it is asked for first."""
    found = {"coordinators.0.error_code": "NONE"}
    return find(key, kind=kind, version=4, until=found, compared=False)


def init(
    tid: str | None = "t", *, version: int = 5, timeout: int = TIMEOUT_MS, **more: Any
) -> Step:
    """InitProducerId, asked once."""
    fields = {"transactional_id": named(tid), "transaction_timeout": timeout, **more}
    return Step(api="init_producer_id", version=version, fields=fields)


def begun(tid: str = "t", name: str = "pid", *, version: int = 5, **more: Any) -> tuple[Step, ...]:
    """A transactional producer, its id kept under a name: its coordinator may have to load."""
    fields = {"transactional_id": named(tid), "transaction_timeout": TIMEOUT_MS, **more}
    given = Step(
        api="init_producer_id",
        version=version,
        fields=fields,
        save={name: "producer_id"},
        until={"error_code": "NONE"},
    )
    return coordinated(f"$topic:{tid}"), given


def topics_of(topics: Topics) -> list[dict[str, Any]]:
    """Topics with their partitions; names that begin with `nowhere` are of no topic."""
    return [
        {"name": name if name.startswith("nowhere") else f"$topic:{name}", "partitions": list(of)}
        for name, of in topics.items()
    ]


def added(
    topics: Topics | None = None,
    *,
    tid: str | None = "t",
    pid: Any = "$ref:pid",
    epoch: int = 0,
    version: int = 3,
    verify: bool = False,
    note: str = "",
) -> Step:
    """AddPartitionsToTxn for one transaction."""
    asked = topics_of({"a": [0]} if topics is None else topics)
    if version < FIRST_OF_MANY:
        fields: dict[str, Any] = {
            "v3_and_below_transactional_id": named(tid),
            "v3_and_below_producer_id": pid,
            "v3_and_below_producer_epoch": epoch,
            "v3_and_below_topics": asked,
        }
    else:
        fields = {
            "transactions": [transaction(asked, tid=tid, pid=pid, epoch=epoch, verify=verify)]
        }
    return Step(api="add_partitions_to_txn", version=version, fields=fields, note=note)


def transaction(
    topics: Sequence[Said],
    *,
    tid: str | None = "t",
    pid: Any = "$ref:pid",
    epoch: int = 0,
    verify: bool = False,
) -> dict[str, Any]:
    """One of several transactions that partitions are added to."""
    return {
        "transactional_id": named(tid),
        "producer_id": pid,
        "producer_epoch": epoch,
        "verify_only": verify,
        "topics": list(topics),
    }


def ended(
    committed: bool = True,
    *,
    tid: str | None = "t",
    pid: Any = "$ref:pid",
    epoch: int = 0,
    version: int = 4,
    note: str = "",
) -> Step:
    """EndTxn."""
    fields = {
        "transactional_id": named(tid),
        "producer_id": pid,
        "producer_epoch": epoch,
        "committed": committed,
    }
    return Step(api="end_txn", version=version, fields=fields, note=note)


def described(*tids: str, **more: Any) -> Step:
    """DescribeTransactions."""
    fields = {"transactional_ids": [named(one) for one in tids or ("t",)]}
    return Step(api="describe_transactions", version=0, fields=fields, **more)


def settled(state: str, tid: str = "t") -> Step:
    """Wait until a transaction has got to a state."""
    shown = {"transaction_states.0.transaction_state": state}
    return described(tid, until=shown, compared=False)


def committed(tid: str = "t", **more: Any) -> tuple[Step, ...]:
    """A commit, with its markers."""
    return ended(True, tid=tid, **more), settled("CompleteCommit", tid)


def aborted(tid: str = "t", **more: Any) -> tuple[Step, ...]:
    """An abort, with its markers."""
    return ended(False, tid=tid, **more), settled("CompleteAbort", tid)


def within(sequence: int, *values: Any, epoch: Any = 0, pid: Any = "$ref:pid") -> Said:
    """A batch of a transaction."""
    patch = {
        "producer_id": pid,
        "producer_epoch": epoch,
        "base_sequence": sequence,
        "attributes": TRANSACTIONAL,
    }
    return batch(*values, patch=patch)


def sent(*batches: Said, tid: str | None = "t", **more: Any) -> Step:
    """A produce request of a transactional producer."""
    return produce(*batches, transactional_id=named(tid), **more)


def read(*partitions: Said, level: int = COMMITTED_ONLY, **more: Any) -> Step:
    """A fetch of committed records alone."""
    return fetch(*(partitions or (fetched(),)), isolation_level=level, **more)


def marker(
    topics: Topics | None = None,
    *,
    pid: Any = "$ref:pid",
    epoch: int = 0,
    commit: bool = True,
    coordinator: int = 0,
    bumps: int | None = None,
) -> dict[str, Any]:
    """One marker; from version 2 on it says which transaction version it is of."""
    return {
        "producer_id": pid,
        "producer_epoch": epoch,
        "transaction_result": commit,
        "topics": [
            {"name": one["name"], "partition_indexes": one["partitions"]}
            for one in topics_of({"a": [0]} if topics is None else topics)
        ],
        "coordinator_epoch": coordinator,
        **({} if bumps is None else {"transaction_version": bumps}),
    }


def marked(*markers: Said, version: int = 1, note: str = "") -> Step:
    """WriteTxnMarkers."""
    fields = {"markers": list(markers)}
    return Step(api="write_txn_markers", version=version, fields=fields, note=note)


def listed(version: int = 2, **filters: Any) -> Step:
    """ListTransactions."""
    return Step(api="list_transactions", version=version, fields=filters)
