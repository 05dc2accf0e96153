"""What nodes count of themselves, beside what clients are told.

Metrics are read where nodes have a page of them (probe `metrics`), at the end of a phase in which
the cluster was to settle, after the last look at all topics, all of which are the lab's. A count
that is right is right at once; a wrong one counts once the lab kept reading for the whole bound.
Names are those of Kafka's MBeans as Prometheus has them.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import kafka_rule
from harness.rules import Depth, Holds

METRICS = "Metrics"
MONITORING = "documentation, Operations: monitoring"
_BOUND = "the bound is {bound_s} s"


def _counted(table: str, right: str, show: tuple[str, ...], words: tuple[str, ...]) -> Holds:
    return Holds(
        table=table,
        when=f"({right}) OR whole",
        holds=right,
        show=(*show, "bound_s"),
        words=(*words, _BOUND),
    )


RULES = (
    kafka_rule(
        id="KFK-210",
        section=METRICS,
        source=MONITORING,
        sentence="Within the bound, a broker counts the partitions that it has and that it leads.",
        depth=Depth.HOOKS,
        judge=_counted(
            "partitions_counted",
            "has = told_has AND leads = told_leads",
            ("node_name", "has", "told_has", "leads", "told_leads"),
            (
                "{node_name} counts {has} partitions, and has {told_has}",
                "it counts {leads} that it leads, and leads {told_leads}",
            ),
        ),
        hint="PartitionCount and LeaderCount are of replicas as they are, not as they were",
    ),
    kafka_rule(
        id="KFK-211",
        section=METRICS,
        source=MONITORING,
        sentence="Within the bound, a leader counts its partitions that lack replicas in sync.",
        depth=Depth.HOOKS,
        judge=_counted(
            "partitions_counted",
            "under_replicated >= sure_lacking AND under_replicated <= told_lacking",
            ("node_name", "under_replicated", "told_lacking", "sure_lacking"),
            (
                "{node_name} counts {under_replicated} under-replicated partitions",
                "it leads {told_lacking}",
                "{sure_lacking} of them were never reassigned",
            ),
        ),
        hint="UnderReplicatedPartitions is what operators are woken up by",
    ),
    kafka_rule(
        id="KFK-212",
        section=METRICS,
        source=MONITORING,
        sentence="Within the bound, the controller counts brokers, and partitions without leader.",
        depth=Depth.HOOKS,
        judge=_counted(
            "cluster_counted",
            "active = told_active AND fenced = told_fenced AND offline = told_leaderless "
            "AND all_partitions = told_partitions",
            (
                *("active", "told_active", "fenced", "told_fenced"),
                *("offline", "told_leaderless", "all_partitions", "told_partitions"),
            ),
            (
                "the controller counts {active} brokers active, and {told_active} are",
                "{fenced} fenced, and {told_fenced} are",
                "{offline} partitions without a leader, and {told_leaderless} are",
                "{all_partitions} in all, and there are {told_partitions}",
            ),
        ),
        hint="ActiveBrokerCount, FencedBrokerCount, OfflinePartitionsCount, GlobalPartitionCount",
    ),
    kafka_rule(
        id="KFK-213",
        section=METRICS,
        source=MONITORING,
        sentence="A leader counts every ISR that grows under it.",
        depth=Depth.HOOKS,
        judge=Holds(
            table="expansions_counted",
            when="TRUE",
            holds="expansions >= before_expansions + grown",
            times="grown",
            show=("node_name", "before_expansions", "expansions", "grown"),
            words=(
                "{node_name} counted {before_expansions} expansions and then {expansions}",
                "{grown} ISRs of its partitions grew in between",
            ),
        ),
        hint="only a leader lets a replica into an ISR, so only it can count that",
    ),
    kafka_rule(
        id="KFK-214",
        section=METRICS,
        source=MONITORING,
        sentence="Within the bound, a leader counts its partitions that lack min.insync.replicas.",
        depth=Depth.HOOKS,
        judge=_counted(
            "partitions_counted",
            "under_min >= sure_short AND under_min <= told_short",
            ("node_name", "under_min", "told_short", "sure_short"),
            (
                "{node_name} counts {under_min} partitions below min.insync.replicas",
                "{sure_short} that it leads are, and {told_short} may be",
            ),
        ),
        hint="UnderMinIsrPartitionCount is of those that take nothing with acks=all",
    ),
    kafka_rule(
        id="KFK-215",
        section=METRICS,
        source=MONITORING,
        sentence="A leader counts every ISR that it makes smaller.",
        depth=Depth.HOOKS,
        judge=Holds(
            table="shrinks_counted",
            when="TRUE",
            holds="shrinks >= before_shrinks + shrunk",
            times="shrunk",
            show=("node_name", "before_shrinks", "shrinks", "shrunk"),
            words=(
                "{node_name} counted {before_shrinks} shrinks and then {shrinks}",
                "{shrunk} ISRs of its partitions shrank in between",
            ),
        ),
        hint="who does not fetch what is appended leaves the ISR although its session goes on",
    ),
)
