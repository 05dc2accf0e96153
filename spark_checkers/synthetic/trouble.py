"""What happens to a simulated cluster: elections, deaths, leaders that are cut off, retention.

Each names the assumption it spends in its fault lines. A window ends when the cluster has
converged; that of an election that loses data never does.
"""

from __future__ import annotations

from spark_checkers.synthetic.cluster import Cluster
from spark_checkers.synthetic.loop import MS, Sleep, Task, Until
from spark_checkers.synthetic.partition import Partition

PATIENCE_NS = 10_000 * MS


def replicate(cluster: Cluster, partition: Partition, node: int) -> Task[None]:
    """One follower fetches for as long as the cluster lives."""
    while not cluster.stopped:
        yield cluster.pause(0.5 if cluster.calm else 1.5)
        partition.replicate(node, cluster.random.choice([1, 3, 100]))


def elections(cluster: Cluster) -> Task[None]:
    """Leadership moves to another in-sync replica, nobody being at fault."""
    for _ in range(cluster.shape.elections):
        yield cluster.pause(18)
        partition = cluster.random.choice(cluster.partitions)
        others = [node for node in partition.in_sync if node != partition.leader]
        if others and not cluster.troubled:
            _elect(cluster, partition, cluster.random.choice(others), cut_off=False)


def _elect(cluster: Cluster, partition: Partition, node: int, *, cut_off: bool) -> None:
    cluster.before[partition.place] = partition.leader, partition.epoch
    partition.elect(node, cut_off=cut_off)


def kills(cluster: Cluster) -> Task[None]:
    """A broker dies and comes back from its disk, where nothing is missing but what is young."""
    for _ in range(cluster.shape.kills):
        yield cluster.pause(25)
        yield Until(lambda: not cluster.troubled, PATIENCE_NS)
        cluster.troubled = True
        yield from _kill(cluster, cluster.random.choice(cluster.nodes))
        cluster.troubled = False


def _kill(cluster: Cluster, node: int) -> Task[None]:
    target = f"broker-{node}"
    cluster.journal.fault("kill", target, "begin", assumption="replica-up")
    for partition in cluster.partitions:
        cluster.before[partition.place] = partition.leader, partition.epoch
        partition.stop(node)
    cluster.journal.fault("kill", target, "landed", evidence={"exit": -9})
    yield cluster.pause(20)
    for partition in cluster.partitions:
        written = partition.replicas[node].high_watermark - cluster.random.randrange(4)
        partition.restart(node, written)
    yield Until(lambda: _converged(cluster, node), PATIENCE_NS)
    cluster.journal.fault("kill", target, "end")


def cut_offs(cluster: Cluster) -> Task[None]:
    """A leader is cut off from the others, not from its clients, and replaced."""
    for _ in range(cluster.shape.cut_offs):
        yield cluster.pause(25)
        yield Until(lambda: not cluster.troubled, PATIENCE_NS)
        partition = cluster.random.choice(cluster.partitions)
        if partition.in_sync != [partition.leader]:
            cluster.troubled = True
            yield from _cut_off(cluster, partition)
            cluster.troubled = False


def _cut_off(cluster: Cluster, partition: Partition) -> Task[None]:
    old, target = partition.leader, f"broker-{partition.leader}"
    others = [node for node in partition.in_sync if node != old]
    cluster.journal.fault("cut-off", target, "begin", assumption="one-leader")
    _elect(cluster, partition, cluster.random.choice(others), cut_off=True)
    cluster.journal.fault("cut-off", target, "landed", evidence={"epoch": partition.epoch})
    yield cluster.pause(20)
    partition.hear(old)
    yield Until(lambda: _converged(cluster, old), PATIENCE_NS)
    cluster.journal.fault("cut-off", target, "end")


def _converged(cluster: Cluster, node: int) -> bool:
    return all(
        node in partition.in_sync
        and partition.replicas[node].high_watermark >= partition.leading.high_watermark
        for partition in cluster.partitions
    )


def unclean(cluster: Cluster) -> Task[None]:
    """A replica that lags behind is made leader: what only the others had is lost."""
    if not cluster.shape.unclean or cluster.nodes == [1]:
        return
    yield cluster.pause(30)
    yield Until(lambda: not cluster.troubled, PATIENCE_NS)
    cluster.troubled = True
    partition = cluster.random.choice(cluster.partitions)
    node = cluster.random.choice([node for node in cluster.nodes if node != partition.leader])
    partition.drop(node)
    partition.replicas[node].up = False
    yield Sleep(15 * MS)
    cluster.journal.fault("unclean-election", "controller", "begin", assumption="clean-election")
    partition.replicas[node].up = True
    _elect(cluster, partition, node, cut_off=False)
    cluster.journal.fault("unclean-election", "controller", "landed", evidence={"node": node})
    cluster.troubled = False


def retention(cluster: Cluster) -> Task[None]:
    """Old records go without anybody's asking."""
    for _ in range(cluster.shape.retention):
        yield cluster.pause(20)
        leader = cluster.random.choice(cluster.partitions).leading
        if leader.up:
            leader.start = cluster.random.randint(leader.start, leader.high_watermark)
