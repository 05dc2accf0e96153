"""Short ways to say the requests about the offsets that groups commit.

A group is named like a topic of the play, so that plays do not share it. A request is said in the
fields of the newest version; those that a version does not have are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clients.messages import request_schema
from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import Said
from harness.differential.sequences.transacting import GROUP, coordinated, named
from harness.differential.varied import fitted

FIRST_OF_MANY = 8
"""OffsetFetch asks for several groups from here on."""

Offsets = Mapping[str, Sequence[Said]]
Asked = Mapping[str, Sequence[int]]


def story(name: str, about: str, *steps: Step) -> RequestSequence:
    """A sequence of this family."""
    return RequestSequence(name=f"group_offsets/{name}", about=about, steps=steps)


def grouped(group: str = "g") -> Step:
    """Wait until a group has a coordinator that has loaded."""
    return coordinated(f"$topic:{group}", GROUP)


def loaded(group: str = "g") -> Step:
    """Wait until the coordinator of a group answers for it."""
    fields: dict[str, Any] = {"groups": [{"group_id": named(group), "topics": []}]}
    return Step(
        api="offset_fetch",
        version=9,
        fields=fields,
        until={"groups.0.error_code": "NONE"},
        compared=False,
    )


def at(offset: int, partition: int = 0, *, epoch: int = -1, metadata: str | None = "") -> Said:
    """An offset to commit."""
    return {
        "partition_index": partition,
        "committed_offset": offset,
        "committed_leader_epoch": epoch,
        "committed_metadata": metadata,
    }


def _name(topic: str) -> str:
    return topic if topic.startswith(("nowhere", "__")) else f"$topic:{topic}"


def _topics(offsets: Offsets | None) -> list[dict[str, Any]]:
    chosen = {"a": [at(5)]} if offsets is None else offsets
    return [{"name": _name(name), "partitions": list(of)} for name, of in chosen.items()]


def _step(api: str, version: int, fields: Said, **more: Any) -> Step:
    said = fitted(request_schema(api, version), fields)
    return Step(api=api, version=version, fields=said, **more)


def commit(
    offsets: Offsets | None = None,
    *,
    group: str | None = "g",
    version: int = 9,
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    retention: int = -1,
    **more: Any,
) -> Step:
    """OffsetCommit."""
    fields = {
        "group_id": named(group),
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "group_instance_id": instance,
        "retention_time": retention,
        "topics": _topics(offsets),
    }
    return _step("offset_commit", version, fields, **more)


def commit_within(
    offsets: Offsets | None = None,
    *,
    tid: str | None = "t",
    group: str | None = "g",
    pid: Any = "$ref:pid",
    epoch: int = 0,
    version: int = 4,
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
    **more: Any,
) -> Step:
    """TxnOffsetCommit."""
    fields = {
        "transactional_id": named(tid),
        "group_id": named(group),
        "producer_id": pid,
        "producer_epoch": epoch,
        "generation_id": generation,
        "member_id": member,
        "group_instance_id": instance,
        "topics": _topics(offsets),
    }
    return _step("txn_offset_commit", version, fields, **more)


def joined(
    *,
    tid: str | None = "t",
    group: str = "g",
    pid: Any = "$ref:pid",
    epoch: int = 0,
    version: int = 4,
    **more: Any,
) -> Step:
    """AddOffsetsToTxn."""
    fields = {
        "transactional_id": named(tid),
        "producer_id": pid,
        "producer_epoch": epoch,
        "group_id": named(group),
    }
    return Step(api="add_offsets_to_txn", version=version, fields=fields, **more)


def told(
    asked: Asked | None = None,
    *,
    group: str = "g",
    version: int = 9,
    stable: bool = False,
    everything: bool = False,
    member: str | None = None,
    member_epoch: int = -1,
    **more: Any,
) -> Step:
    """OffsetFetch of one group."""
    chosen = {"a": [0, 1]} if asked is None else asked
    topics = [
        {"name": _name(name), "partition_indexes": list(indexes)}
        for name, indexes in chosen.items()
    ]
    one = {
        "group_id": named(group),
        "member_id": member,
        "member_epoch": member_epoch,
        "topics": None if everything else topics,
    }
    if version >= FIRST_OF_MANY:
        return _step("offset_fetch", version, {"groups": [one], "require_stable": stable}, **more)
    return _step("offset_fetch", version, {**one, "require_stable": stable}, **more)


def forgotten(asked: Asked | None = None, *, group: str = "g", **more: Any) -> Step:
    """OffsetDelete."""
    chosen = {"a": [0]} if asked is None else asked
    topics = [
        {"name": _name(name), "partitions": [{"partition_index": one} for one in indexes]}
        for name, indexes in chosen.items()
    ]
    fields = {"group_id": named(group), "topics": topics}
    return Step(api="offset_delete", version=0, fields=fields, **more)
