"""A cluster that was healed recovers, in peace it answers, and it goes on without who is cut off.

What is judged is what the lab saw in phases of its own (`FORMAT.md`, phases): no fault is in force,
or one link between two brokers is cut, and a bound says how long recovery may take. A rule is
judged where the cluster recovered, or where the lab kept looking for the whole bound, five times at
least; a lab that was not given the time to look accuses nobody. Where an assumption is suspended
that recovery rests on (data that was synced is lost, a leader was elected uncleanly), nothing is
judged.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import DURABLE, PROTOCOL, REPLICATION, kafka_rule
from conformance.catalogue.kafka.replicas import REPLICAS
from harness.rules import Depth, Holds

LIVENESS = "Liveness"
IN_SYNC = "In-sync replicas"
LOOKS = 5  # before a cluster is said not to recover

_BOUND = "the bound is {bound_s} s"


def _whole_bound(good: str, looks: str) -> str:
    return f"({good}) OR (lasted_ns >= bound_ns AND {looks} >= {LOOKS})"


def _in_time(tries: str, lasted: str) -> str:
    return f"{tries} = 0 OR ({lasted} >= bound_ns AND {tries} >= {LOOKS})"


def _progress(when: str) -> Holds:
    """About a phase in which clients are to append and to read what they appended."""
    done = "appended_op IS NOT NULL AND read_op IS NOT NULL"
    return Holds(
        table="rest_progress",
        when=f"{when} AND ({_whole_bound(done, 'tries')})",
        holds=done,
        show=("cut", "tries", "appends", "bound_s", "last_error", "appended_op", "base_offset"),
        words=(
            "the link {cut} is cut",
            "{tries} requests, {appends} of them appends",
            "the last append was answered {last_error}",
            "op {appended_op} was acknowledged offset {base_offset}, which nobody read",
            _BOUND,
        ),
    )


RULES = (
    kafka_rule(
        id="KFK-090",
        section=LIVENESS,
        source=REPLICATION,
        sentence="Within the bound after healing, all brokers name one leader in one epoch.",
        assumes=DURABLE,
        judge=Holds(
            table="rest_looks",
            when=_whole_bound("agreed", "looks"),
            holds="agreed",
            show=(
                "looks",
                "bound_s",
                "silent",
                "leader",
                "other_leader",
                "epoch",
                "other_epoch",
            ),
            words=(
                "in the last of {looks} looks leader {leader} is named in epoch {epoch}",
                "and leader {other_leader}",
                "and epoch {other_epoch}",
                "broker {silent} does not answer",
                _BOUND,
            ),
        ),
        hint="is an election missed, or a broker that does not follow the metadata any more?",
    ),
    kafka_rule(
        id="KFK-091",
        section=LIVENESS,
        source=REPLICATION,
        sentence="Within the bound after healing, all live replicas are in sync.",
        assumes=DURABLE,
        judge=Holds(
            table="rest_looks",
            when=_whole_bound("answers > 0 AND lacks IS NULL", "looks"),
            holds="answers > 0 AND lacks IS NULL",
            show=("looks", "bound_s", "lacks", "teller", "leader", "epoch"),
            words=(
                "in the last of {looks} looks broker {teller} says that {lacks} is not in sync",
                "with leader {leader} in epoch {epoch}",
                _BOUND,
            ),
        ),
        hint="a follower that fetches in vain, or was given up: what does its log say last?",
    ),
    kafka_rule(
        id="KFK-092",
        section=LIVENESS,
        source=REPLICATION,
        sentence="Within the bound after healing, an acks=all append is acknowledged and read.",
        assumes=DURABLE,
        judge=_progress("cut IS NULL"),
        hint="does the high watermark move? Is the in-sync set counted as it is?",
    ),
    kafka_rule(
        id="KFK-093",
        section=LIVENESS,
        source=PROTOCOL,
        sentence="While no fault is in force, a well-formed request is answered.",
        assumes=DURABLE,
        judge=Holds(
            table="requests_in_peace",
            when=f"send IS NULL AND ({_in_time('unanswered', 'unanswered_ns')})",
            holds="unanswered = 0",
            times="requests",
            show=("f", "node", "acks", "requests", "unanswered", "bound_s"),
            words=(
                "the last {unanswered} of {requests} requests {f} have no answer",
                "at broker {node}",
                "with acks={acks}",
                _BOUND,
            ),
        ),
        hint="a handler that fails, or waits for what does not come",
    ),
    kafka_rule(
        id="KFK-094",
        section=LIVENESS,
        source=f"{PROTOCOL}, error codes",
        sentence="While no fault is in force, no request is refused for longer than the bound.",
        assumes=DURABLE,
        judge=Holds(
            table="requests_in_peace",
            when=_in_time("refusals", "refused_ns"),
            holds="refusals = 0",
            times="requests",
            show=(
                "f",
                "node",
                "acks",
                "send",
                "requests",
                "refusals",
                "refused_with",
                "bound_s",
            ),
            words=(
                "the last {refusals} of {requests} requests {f} are refused",
                "with {refused_with}",
                "at broker {node}",
                "with acks={acks}",
                "all of them attempts of the send {send}",
                _BOUND,
            ),
        ),
        hint="an error after which clients try again, for a reason that does not pass",
    ),
    kafka_rule(
        id="KFK-095",
        section=LIVENESS,
        source=REPLICATION,
        sentence="A node runs until it is told to stop.",
        depth=Depth.HOOKS,
        judge=Holds(
            table="nodes_seen",
            when="TRUE",
            holds="state IN ('running', 'not ready') OR on_purpose",
            show=("node_name", "state", "exit_code"),
            words=("{node_name} has {state} by itself", "with exit code {exit_code}"),
        ),
        hint="what it said last is in the run folder, below nodes/",
    ),
    kafka_rule(
        id="KFK-097",
        section=LIVENESS,
        source=REPLICATION,
        sentence="A node that is started becomes ready within the bound.",
        depth=Depth.HOOKS,
        judge=Holds(
            table="nodes_seen",
            when="state IN ('running', 'not ready')",
            holds="state = 'running'",
            show=("node_name", "state"),
            words=("{node_name} runs and is {state}",),
        ),
        hint="which broker stays fenced, and what does it wait for?",
    ),
    kafka_rule(
        id="KFK-167",
        section=LIVENESS,
        source=REPLICATION,
        sentence="Within the bound, appends go on without a follower that cannot fetch.",
        assumes=DURABLE,
        judge=_progress("cut IS NOT NULL"),
        hint="who does not keep up for replica.lag.time.max.ms leaves the ISR",
    ),
    kafka_rule(
        id="KFK-168",
        section=REPLICAS,
        source="KIP-841: fenced replicas and the ISR",
        sentence="A fenced broker is in no ISR.",
        judge=Holds(
            table="fenced_members",
            when="leader >= 0 OR isr_count <> 1",  # without KIP-966 the last member stays
            holds="NOT in_isr",
            show=("node", "broker", "isr"),
            words=("broker {node} has told that broker {broker} is fenced", "then ISR {isr}"),
        ),
        hint="is an ISR that a leader proposes compared with who is fenced?",
    ),
    kafka_rule(
        id="KFK-149",
        section=REPLICAS,
        source="KIP-631: brokers are fenced until they have caught up",
        sentence="A broker that is not fenced any more knows the topics that were there before.",
        judge=Holds(
            table="unfenced_brokers_asked",
            when="TRUE",
            holds="error IS NULL OR error <> 'UNKNOWN_TOPIC_OR_PARTITION'",
            show=("node", "topic", "error"),
            words=("broker {node} is told not to be fenced", "of {topic} it says {error}"),
        ),
        hint="does a broker serve before it has read its own registration?",
    ),
    kafka_rule(
        id="KFK-169",
        section=IN_SYNC,
        source="documentation, Broker configs: replica.lag.time.max.ms",
        sentence="A follower that is late, and not for too long, stays in the ISR.",
        judge=Holds(
            table="watched_members",
            when="TRUE",
            holds="in_isr",
            show=("node", "broker"),
            words=("broker {broker} has left the ISR", "broker {node} says so"),
        ),
        hint="who had everything a short while ago keeps up, even if it lacks the last batch",
    ),
    kafka_rule(
        id="KFK-170",
        section=REPLICAS,
        source=f"{PROTOCOL}, DescribeTopicPartitions",
        sentence="Within the bound, a replica is told to be offline if and only if it is down.",
        judge=Holds(
            table="settled_members",
            when="place IS NOT NULL AND (up OR down) AND (whole OR offline = down)",
            holds="offline = down",
            show=("broker", "offline", "down", "bound_s"),
            words=("replica {broker} is told to be offline: {offline}", "down: {down}", _BOUND),
        ),
        hint="a broker that is fenced serves nobody, and its replicas are offline",
    ),
    kafka_rule(
        id="KFK-171",
        section=REPLICAS,
        source="KIP-279",
        sentence="Replicas at rest have the same records, also after unclean elections.",
        judge=Holds(
            table="reads_at_rest",
            when="TRUE",
            holds="value IS NOT DISTINCT FROM other_value"
            " AND coalesce(leader_epoch = other_epoch, TRUE)",
            show=(
                "record_offset",
                "node",
                "value",
                "leader_epoch",
                "other_op",
                "other_node",
                "other_value",
                "other_epoch",
            ),
            words=(
                "at offset {record_offset} node {node} shows {value}",
                "of epoch {leader_epoch}",
                "in op {other_op} node {other_node} shows {other_value}",
                "of epoch {other_epoch}",
            ),
        ),
        hint="where logs part the epoch decides: the leader's older one may be longer",
    ),
)
