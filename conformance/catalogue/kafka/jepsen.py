"""Every anomaly of the Jepsen Kafka checker, under its name and with its definition.

A log holds one value per offset, each value once; sends and polls walk it forwards. The *order of
versions* is the values in order of their offsets, gaps removed (view log_order). Whether a
violation counts may depend on how the history was made: with `subscribe` a consumer may be moved by
a rebalance between two operations, and with `ww-deps` cycles rest on the order of writes, which
Kafka does not isolate. What Jepsen calls allowed in every history is told and never counts.

Jepsen stops with an error on a value that nobody sent; here it is an anomaly, garbage-read.

These rules judge micro-operations: sends and polls of clients that are producer and consumer in
one. What requests to produce and to fetch show is judged by the rules beside them.
"""

from __future__ import annotations

from functools import partial

from conformance.catalogue.kafka import fragments
from harness.rules import Cycles, Holds, Level, Rule

ORDER = "Order of the log"
WRITES = "Writes"
READS = "Reads"
SESSIONS = "Sessions"
TRANSACTIONS = "Transactions"

SUBSCRIBE = "subscribe"
WW_DEPS = "ww-deps"
OF_WRITES = "a history that asks for the order of writes (ww-deps), as no run of the lab does"

kafka_rule = partial(fragments.kafka_rule, unproven=fragments.UNBROKEN)

KNOWN = "delta IS NOT NULL"
STEP = ("completion", "value_before", "value", "delta", "place_before", "place")
TURN = ("completion_before", *STEP)


def steps(table: str, holds: str) -> Holds:
    return Holds(table=table, when=KNOWN, holds=holds, show=STEP)


def turns(table: str, holds: str) -> Holds:
    return Holds(table=table, when=KNOWN, holds=holds, show=TURN)


def cycles(kind: str) -> Cycles:
    return Cycles(table="log_dependencies", vertices="log_transactions", kind=kind)


def graph_rule(
    number: int,
    anomaly: str,
    sentence: str,
    *,
    level: Level = Level.MUST,
    under: tuple[str, ...] = (),
    awaits: str = "",
    unproven: str = fragments.UNBROKEN,
    hint: str = "does a consumer see what its producer has not committed yet?",
) -> Rule:
    return kafka_rule(
        id=f"KFK-{number:03}",
        section=TRANSACTIONS,
        sentence=sentence,
        anomaly=anomaly,
        level=level,
        allowed_under=under,
        awaits=awaits,
        unproven=unproven,
        judge=cycles(anomaly),
        hint=hint,
    )


LOG_RULES = (
    kafka_rule(
        id="KFK-001",
        section=ORDER,
        sentence="An offset of a log holds one value, for every producer and consumer.",
        unproven="",
        anomaly="inconsistent-offsets",
        judge=Holds(
            table="log_offsets", when="TRUE", holds="held = 1", show=("record_offset", "place")
        ),
        hint="did a new leader give out offsets that its predecessor had acknowledged?",
    ),
    kafka_rule(
        id="KFK-002",
        section=ORDER,
        sentence="A value stands at one offset of a log.",
        anomaly="duplicate",
        judge=Holds(table="log_copies", when="TRUE", holds="copies = 1", show=("value", "copies")),
        hint="a retry whose first attempt had worked; is the producer idempotent?",
    ),
    kafka_rule(
        id="KFK-003",
        section=READS,
        sentence="A value whose send failed is not read.",
        unproven="",
        anomaly="G1a",
        judge=Holds(
            table="log_polled",
            when="type = 'ok' AND writer IS NOT NULL",
            holds="failed = 0",
            show=("completion", "value", "writer"),
        ),
        hint="an aborted transaction that readers see, or an error that is not definite",
    ),
    kafka_rule(
        id="KFK-004",
        section=TRANSACTIONS,
        sentence="A transaction does not poll what it sent itself.",
        unproven="",
        anomaly="precommitted-read",
        judge=Holds(
            table="log_own_reads",
            when="TRUE",
            holds="value IS NULL",
            show=("completion", "value"),
        ),
        hint="is the consumer at read_committed, and the last stable offset honoured?",
    ),
    kafka_rule(
        id="KFK-005",
        section=WRITES,
        sentence="A committed value below the highest that was read is read by somebody.",
        unproven="",
        anomaly="lost-write",
        judge=Holds(
            table="log_due",
            when="TRUE",
            holds="seen_at IS NOT NULL",
            show=("value", "first_place", "bound", "writer"),
        ),
        hint="acknowledged before it was durable, or truncated by a new leader",
    ),
    kafka_rule(
        id="KFK-006",
        section=WRITES,
        sentence="An acknowledged value is read by somebody before the history ends.",
        unproven="",
        anomaly="unseen",
        judge=Holds(
            table="log_acknowledged",
            when="TRUE",
            holds="seen_at IS NOT NULL",
            show=("value", "acked_at"),
        ),
        hint="lost, or late: did the last polls reach the end of every log?",
    ),
    kafka_rule(
        id="KFK-007",
        section=SESSIONS,
        sentence="A process that polls a log again misses nothing in between.",
        unproven="",
        anomaly="poll-skip",
        allowed_under=(SUBSCRIBE,),
        judge=turns("log_poll_turns", "delta <= 1"),
        hint="where did the consumer's position move without a poll?",
    ),
    kafka_rule(
        id="KFK-008",
        section=SESSIONS,
        sentence="A process that polls a log again goes on behind what it polled.",
        anomaly="nonmonotonic-poll",
        allowed_under=(SUBSCRIBE,),
        judge=turns("log_poll_turns", "delta >= 1"),
        hint="a position that went back: a lost commit, or a leader with a shorter log",
    ),
    kafka_rule(
        id="KFK-009",
        section=READS,
        sentence="Within one operation, polling a log misses nothing in between.",
        unproven="",
        anomaly="int-poll-skip",
        judge=steps("log_poll_steps", "delta <= 1"),
        hint="a fetch that jumped over records it had",
    ),
    kafka_rule(
        id="KFK-010",
        section=READS,
        sentence="Within one operation, polling a log goes forwards.",
        anomaly="int-nonmonotonic-poll",
        judge=steps("log_poll_steps", "delta >= 1"),
        hint="the same records twice, or an answer out of order",
    ),
    kafka_rule(
        id="KFK-011",
        section=SESSIONS,
        sentence="What a process sends later stands behind what it sent to the log before.",
        anomaly="nonmonotonic-send",
        judge=turns("log_send_turns", "delta >= 1"),
        hint="requests in flight together, or a leader that lost its end",
    ),
    kafka_rule(
        id="KFK-012",
        section=WRITES,
        sentence="What one operation sends to a log stands in the order of its sends.",
        anomaly="int-nonmonotonic-send",
        judge=steps("log_send_steps", "delta >= 1"),
        hint="batches of one producer that overtook each other",
    ),
    kafka_rule(
        id="KFK-013",
        section=WRITES,
        sentence="What one operation sends to a log stands together.",
        anomaly="int-send-skip",
        level=Level.MAY,
        judge=steps("log_send_steps", "delta <= 1"),
        hint="another writer came in between, which Kafka never excludes",
    ),
    kafka_rule(
        id="KFK-014",
        section=READS,
        sentence="A value that is read was sent by somebody.",
        anomaly="garbage-read",
        judge=Holds(
            table="log_polled",
            when="TRUE",
            holds="writer IS NOT NULL",
            show=("completion", "record_offset", "value"),
        ),
        hint="a corrupt payload, another topic's records, or a history that lacks a producer",
    ),
    kafka_rule(
        id="KFK-027",
        section=ORDER,
        sentence="A value stands at one offset of a log, not counting offset 0.",
        anomaly="duplicate-nonzero",
        judge=Holds(
            table="log_copies",
            when="copies_above_0 > 0",
            holds="copies_above_0 = 1",
            show=("value", "copies_above_0"),
        ),
        hint="the same as a duplicate, where offset 0 is only what an unknown offset looks like",
    ),
)

GRAPH_RULES = (
    graph_rule(
        15,
        "G0",
        "Writes of transactions are not entangled with each other.",
        level=Level.MAY,
        awaits=OF_WRITES,
        hint="writes interleave constantly: Kafka does not isolate them",
    ),
    graph_rule(
        16,
        "G0-process",
        "Writes of transactions agree with the order in each process.",
        level=Level.MAY,
        awaits=OF_WRITES,
        hint="writes interleave constantly: Kafka does not isolate them",
    ),
    graph_rule(
        17,
        "G0-realtime",
        "Writes of transactions agree with real time.",
        level=Level.MAY,
        awaits=OF_WRITES,
        hint="writes interleave constantly: Kafka does not isolate them",
    ),
    graph_rule(
        18,
        "G1c",
        "No transaction depends on itself through what it and others sent and polled.",
        under=(WW_DEPS,),
        unproven="",
    ),
    graph_rule(
        19,
        "G1c-process",
        "What transactions sent and polled agrees with the order in each process.",
        under=(WW_DEPS,),
    ),
    graph_rule(
        20,
        "G1c-realtime",
        "What transactions sent and polled agrees with real time.",
        under=(WW_DEPS,),
    ),
    graph_rule(
        21,
        "PL-1-cycle-exists",
        "No cycle of writes is proven that the search could not name.",
        level=Level.MAY,
        awaits=OF_WRITES,
        hint="the budget of the search ended before a G0 was named",
    ),
    graph_rule(
        22,
        "strong-PL-1-cycle-exists",
        "No cycle of writes and real time is proven that the search could not name.",
        level=Level.MAY,
        awaits=OF_WRITES,
        hint="the budget of the search ended before a G0-realtime was named",
    ),
    graph_rule(
        23,
        "PL-2-cycle-exists",
        "No cycle of writes and reads is proven that the search could not name.",
        under=(WW_DEPS,),
        hint="the budget of the search ended before a G1c was named",
    ),
    graph_rule(
        24,
        "strong-PL-2-cycle-exists",
        "No cycle of writes, reads and real time is proven that the search could not name.",
        under=(WW_DEPS,),
        hint="the budget of the search ended before a G1c-realtime was named",
    ),
    graph_rule(
        25,
        "empty-transaction-graph",
        "Some transaction depends on another.",
        hint="nothing was polled that was sent, and nothing followed anything",
    ),
    graph_rule(
        26,
        "cycle-search-timeout",
        "The search for cycles comes to its end.",
        hint="a larger budget, or a shorter history",
    ),
)

RULES = (*LOG_RULES, *GRAPH_RULES)
