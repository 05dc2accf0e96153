"""A replicated partition: who leads in which epoch, who is in sync, what is safe.

The rules are Kafka's. A record is safe, and shown to consumers, when every in-sync replica has it:
then it is below the leader's high watermark. Followers learn records, high watermark and log start
by fetching; the leader learns how far a follower is by its next fetch. A clean election takes an
in-sync replica, which keeps its log; the others cut theirs back to where they agree with it. So
unsafe records may vanish and safe ones never do, and the high watermark of a new leader may lie
below that of the old one for a while.
"""

from __future__ import annotations

from collections.abc import Sequence

from spark_checkers.synthetic.replica import Entry, Replica

Place = tuple[str, int]


class Partition:
    """All replicas of one partition, and what the controller has decided about it."""

    def __init__(
        self,
        place: Place,
        nodes: Sequence[int],
        old: Sequence[Entry],
        *,
        origin: int,
        start: int,
        min_in_sync: int,
    ) -> None:
        """`old` entries, from offset `origin` on, were there and safe before the history began."""
        self.place = place
        self.min_in_sync = min_in_sync
        self.leader = nodes[0]
        self.epoch = old[-1].epoch if old else 0
        self.in_sync = list(nodes)
        self.batches = len(old)
        end = origin + len(old)
        self.replicas = {
            node: Replica(
                node=node,
                origin=origin,
                log=list(old),
                start=start,
                high_watermark=end,
                epoch=self.epoch,
                heard={other: (end, start) for other in nodes if node == self.leader != other},
                epoch_start=end,
            )
            for node in nodes
        }
        self.replicas[self.leader].leads = True

    @property
    def leading(self) -> Replica:
        """The copy of the leader that the controller chose."""
        return self.replicas[self.leader]

    def append(self, node: int, entries: Sequence[Entry]) -> int:
        """The leader, or who believes to be it, appends a batch; the offset of its first record."""
        replica = self.replicas[node]
        base = replica.end
        replica.log += entries
        self.advance(replica)
        return base

    def next_batch(self) -> int:
        """A number for a batch."""
        self.batches += 1
        return self.batches

    def replicate(self, node: int, limit: int) -> None:
        """A follower fetches from the leader once."""
        follower, leader = self.replicas[node], self.leading
        if not (follower.up and leader.up) or follower.leads or node == self.leader:
            return
        follower.cut(follower.agrees_until(leader))
        leader.heard[node] = (follower.end, follower.start)
        self._expand(node)
        self.advance(leader)
        if follower.end < leader.start:
            follower.log = leader.log[: leader.start - leader.origin]
        end = follower.end
        while end < leader.end and end - follower.end < limit:
            end = leader.batch_end(end)
        follower.log += leader.log[follower.end - leader.origin : end - leader.origin]
        follower.high_watermark = max(
            follower.high_watermark, min(follower.end, leader.high_watermark)
        )
        follower.start = max(follower.start, min(leader.start, follower.end))

    def _expand(self, node: int) -> None:
        leader = self.leading
        caught_up = leader.heard[node][0] >= max(leader.high_watermark, leader.epoch_start)
        if node not in self.in_sync and caught_up:
            self.in_sync.append(node)

    def advance(self, leader: Replica) -> None:
        """Raise the high watermark to what every in-sync replica is known to have."""
        if leader.epoch != self.epoch:
            return  # a leader of the past is told of no fetch any more
        others = [node for node in self.in_sync if node != leader.node]
        ends = [leader.heard[node][0] if node in leader.heard else -1 for node in others]
        leader.high_watermark = max(leader.high_watermark, min([leader.end, *ends]))

    def elect(self, node: int, *, cut_off: bool = False) -> None:
        """Another node leads in a new epoch; the old leader hears of it unless it is cut off."""
        old = self.leading
        self.epoch += 1
        self.leader = node
        if cut_off:
            self.drop(old.node)
        for replica in self.replicas.values():
            if not (cut_off and replica is old) and replica.up:
                self._tell(replica)

    def _tell(self, replica: Replica) -> None:
        replica.epoch = self.epoch
        replica.leads = replica.node == self.leader
        replica.heard = {}
        if replica.leads:
            replica.epoch_start = replica.end
            if replica.node not in self.in_sync:
                self.in_sync = [replica.node]
            self.advance(replica)

    def drop(self, node: int) -> None:
        """A node that does not answer is not waited for any longer."""
        if self.in_sync != [node]:
            self.in_sync = [one for one in self.in_sync if one != node]
            self.advance(self.leading)

    def hear(self, node: int) -> None:
        """A node that was cut off, or down, learns who leads."""
        self._tell(self.replicas[node])

    def stop(self, node: int) -> None:
        """A node dies; another in-sync one leads if it led."""
        self.replicas[node].up = False
        self.replicas[node].leads = False
        others = [one for one in self.in_sync if one != node and self.replicas[one].up]
        if self.leader == node and others:
            self.elect(others[0])
        self.drop(node)

    def restart(self, node: int, checkpoint: int) -> None:
        """It comes back with its log; its high watermark is what it last wrote down."""
        replica = self.replicas[node]
        replica.up = True
        replica.high_watermark = max(replica.start, min(checkpoint, replica.high_watermark))
        if self.leader == node:
            self.epoch += 1
        self._tell(replica)

    def low_watermark(self) -> int:
        """The lowest log start of the replicas that are up, as far as the leader knows."""
        leader = self.leading
        others = [r.node for r in self.replicas.values() if r.up and r is not leader]
        starts = [leader.heard[node][1] if node in leader.heard else -1 for node in others]
        return min([leader.start, *starts])
