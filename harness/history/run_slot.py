"""A world's place in its run: its shard, its process numbers, its topics.

Several worlds may record into one run, one after the other or at the same time: a smoke test, the
main part, a scenario that starts from an older schema. Each gets a shard of its own and a range of
process numbers that no other world of the run uses, so sealing can interleave their lines without
mixing them up. A part other than 0 gets topics of its own too, because its logs are not those of
part 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.history import Run, ShardWriter

_PROCESSES_PER_WORLD = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSlot:
    """Where one world writes, and what it calls things."""

    name: str
    clock: str
    writer: ShardWriter
    first_process: int
    part: int
    tag: str = ""

    def topic(self, name: str) -> str:
        """What a script's topic is called here; the tag keeps runs on one system apart."""
        numbered = f"{name}-{self.part}" if self.part else name
        return f"{numbered}-{self.tag}" if self.tag else numbered


def take_slot(run: Run, *, world: str, clock: str, part: int, shard: str | None) -> RunSlot:
    """The next free place in a run; two worlds never get the same."""
    name = shard or f"{world}-{part}"
    return RunSlot(
        name=name,
        clock=clock,
        writer=run.shard(name, clock),
        first_process=run.next_slot() * _PROCESSES_PER_WORLD,
        part=part,
        tag=str(run.header.get("topic_tag") or ""),
    )
