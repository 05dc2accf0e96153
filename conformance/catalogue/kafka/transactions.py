"""Transactions as their readers and their logs show them: isolation, atomicity, markers, liveness.

A transaction has a name of its own in a history, whatever transactional id it was of. It is *open
for certain* in a log from the acknowledgement of its first records there until something may have
ended it: an end that was asked for, another producer with its id, its time-out. What was not
answered may come at any time, also as the end of another transaction of the same epoch, which
clients before version 2 (KIP-890) cannot tell apart: such transactions are not judged by their
markers.

Which markers a log has is read from the log itself, by readers of all kinds of records. Markers are
counted in peace: a coordinator that does not hear that one was written has it written again.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import DURABLE, LED, kafka_rule
from conformance.catalogue.kafka.liveness import LOOKS
from harness.rules import Holds

ISOLATION = "Isolation of transactions"
MARKERS = "Markers"
LIVENESS = "Ends of transactions"
OFFSETS = "Offsets within transactions"

_OPEN = "('Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence')"
_STEADY = (*LED, "replica-up")
_REFUSALS = (
    "('PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING',"
    " 'INVALID_TXN_STATE')"
)


def _in_time(good: str) -> str:
    """Judged when it is so, or when it was waited for long enough."""
    return f"({good}) OR (lasted_ns >= bound_ns AND tries >= {LOOKS})"


RULES = (
    kafka_rule(
        id="KFK-220",
        section=ISOLATION,
        source="KIP-98",
        sentence="Readers of committed records are given nothing beyond the last stable offset.",
        judge=Holds(
            table="log_batches",
            when="isolation = 'read_committed' AND last_stable_offset IS NOT NULL",
            holds="last_offset < last_stable_offset",
            show=("node", "base_offset", "last_offset", "last_stable_offset"),
            words=(
                "node {node} gives a batch from offset {base_offset} to {last_offset}",
                "the last stable offset is {last_stable_offset}",
            ),
        ),
        hint="the upper bound of a read depends on the isolation level",
    ),
    kafka_rule(
        id="KFK-221",
        section=ISOLATION,
        source="KIP-98",
        sentence="The last stable offset is not beyond the first record of an open transaction.",
        assumes=DURABLE,
        judge=Holds(
            table="stable_offsets_told",
            when="TRUE",
            holds="last_stable_offset <= open_from",
            show=("node", "last_stable_offset", "open_from", "transaction"),
            words=(
                "node {node} names the last stable offset {last_stable_offset}",
                "transaction {transaction} is open from offset {open_from} on",
            ),
        ),
        hint="the first of all open transactions counts, also after another leader took over",
    ),
    kafka_rule(
        id="KFK-222",
        section=ISOLATION,
        source="KIP-98",
        sentence="With records of an aborted transaction a reader is told that it was aborted.",
        assumes=DURABLE,
        judge=Holds(
            table="aborted_due",
            when="TRUE",
            holds="listed",
            show=("node", "base_offset", "producer_id", "begins_at"),
            words=(
                "node {node} gives the batch at offset {base_offset}",
                "it is of an aborted transaction of producer {producer_id}",
                "which begins at {begins_at} and is not listed",
            ),
        ),
        hint="all aborted transactions that overlap what is given, from the index of each segment",
    ),
    kafka_rule(
        id="KFK-223",
        section=ISOLATION,
        source="KIP-98",
        sentence="A transaction that a reader is told to be aborted was, and did not end before.",
        assumes=DURABLE,
        judge=Holds(
            table="aborted_named",
            when="TRUE",
            holds="fate = 'abort' AND decided_at >= asked_offset",
            show=("node", "producer_id", "first_offset", "asked_offset", "fate", "decided_at"),
            words=(
                "node {node} lists a transaction of producer {producer_id} from {first_offset}",
                "asked from offset {asked_offset}",
                "the log has one there that ends with {fate}",
                "at {decided_at}",
            ),
        ),
        hint="only aborted ones are in the index, with the offsets that they have",
    ),
    kafka_rule(
        id="KFK-224",
        section=MARKERS,
        source="KIP-98",
        sentence="The marker behind the records of a transaction says how it was ended.",
        assumes=DURABLE,
        judge=Holds(
            table="transaction_marks",
            when="fate IS NOT NULL AND NOT late AND (decision IS NOT NULL OR commit_began IS NULL)",
            holds="fate = coalesce(decision, 'abort')",
            show=("node", "transaction", "first_offset", "fate", "decision", "ends"),
            words=(
                "node {node} shows {fate} behind transaction {transaction} at {first_offset}",
                "it was acknowledged as {decision}",
                "an end of it was asked for {ends} times",
            ),
        ),
        hint="what is not committed is aborted; an acknowledged end stays, under any coordinator",
    ),
    kafka_rule(
        id="KFK-225",
        section=MARKERS,
        source="KIP-98",
        sentence="A transaction is committed in all logs it wrote to, or aborted in all of them.",
        assumes=DURABLE,
        judge=Holds(
            table="transactions_marked",
            when="logs > 1",
            holds="kinds = 1",
            show=("transaction", "logs", "committed_in", "aborted_in"),
            words=(
                "transaction {transaction} has markers in {logs} logs",
                "it is committed in {committed_in}",
                "and aborted in {aborted_in}",
            ),
        ),
        hint="every partition of the transaction gets the same marker, until it has it",
    ),
    kafka_rule(
        id="KFK-226",
        section=MARKERS,
        source="KIP-98",
        sentence="In peace a log has no more markers of a producer than it had transactions.",
        assumes=_STEADY,
        judge=Holds(
            table="markers_counted",
            when="transactions > 0",
            holds="markers <= transactions",
            show=(
                "node",
                "producer_id",
                "producer_epoch",
                "markers",
                "transactions",
                "first_offset",
                "last_offset",
            ),
            words=(
                "node {node} shows {markers} markers of producer {producer_id}",
                "in epoch {producer_epoch}, from offset {first_offset} to {last_offset}",
                "it had {transactions} transactions then",
            ),
        ),
        hint="a marker that was written is not written again",
    ),
    kafka_rule(
        id="KFK-228",
        section=LIVENESS,
        source="KIP-98; KIP-664",
        sentence="No log has a transaction open once all are ended or over their time-outs.",
        assumes=DURABLE,
        judge=Holds(
            table="transactions_left",
            when=_in_time("open_from IS NULL"),
            holds="open_from IS NULL",
            show=("producer_id", "open_from", "tries", "bound_s"),
            words=(
                "in the last of {tries} looks producer {producer_id} has a transaction open",
                "from offset {open_from} on",
                "the bound is {bound_s} s",
            ),
        ),
        hint="does every partition get its marker, and is what takes too long aborted?",
    ),
    kafka_rule(
        id="KFK-229",
        section=LIVENESS,
        source="KIP-98",
        sentence="The last stable offset is the high watermark once no transaction is open.",
        assumes=DURABLE,
        judge=Holds(
            table="transactions_left",
            when="last_stable_offset IS NOT NULL AND "
            f"({_in_time('last_stable_offset = high_watermark')})",
            holds="last_stable_offset = high_watermark",
            show=("last_stable_offset", "high_watermark", "tries", "bound_s"),
            words=(
                "the last stable offset is {last_stable_offset}",
                "the high watermark is {high_watermark} in the last of {tries} looks",
                "the bound is {bound_s} s",
            ),
        ),
        hint="a transaction is decided once its marker is committed",
    ),
    kafka_rule(
        id="KFK-230",
        section=LIVENESS,
        source="KIP-98; KIP-664",
        sentence="No coordinator has one open once all are ended or over their time-outs.",
        judge=Holds(
            table="transactions_listed",
            when=_in_time(f"state NOT IN {_OPEN}"),
            holds=f"state NOT IN {_OPEN}",
            show=("transactional_id", "state", "tries", "bound_s"),
            words=(
                "in the last of {tries} answers {transactional_id} is {state}",
                "the bound is {bound_s} s",
            ),
        ),
        hint="transaction.timeout.ms; what was decided is completed, also by who takes over",
    ),
    kafka_rule(
        id="KFK-231",
        section=LIVENESS,
        source="KIP-98",
        sentence="A commit by the current producer before its time-out is not refused.",
        assumes=DURABLE,
        judge=Holds(
            table="commits_asked",
            when="TRUE",
            holds=f"coalesce(error NOT IN {_REFUSALS}, TRUE)",
            show=("transaction", "transactional_id", "producer_epoch", "error"),
            words=(
                "the commit of {transaction} in epoch {producer_epoch} is answered {error}",
                "no one else asked for an end of it",
            ),
        ),
        hint="a time-out counts from the first partition of the transaction",
    ),
    kafka_rule(
        id="KFK-232",
        section=LIVENESS,
        source="KIP-664",
        sentence="A coordinator describes a transaction as ongoing, with all logs it wrote to.",
        assumes=DURABLE,
        judge=Holds(
            table="transactions_described",
            when="TRUE",
            holds="state = 'Ongoing' AND named AND producer_epoch = open_epoch",
            show=("transactional_id", "transaction", "state", "producer_epoch", "open_epoch"),
            words=(
                "{transactional_id} is described as {state} in epoch {producer_epoch}",
                "transaction {transaction} of epoch {open_epoch} is open",
            ),
        ),
        hint="what the logs have of a transaction its coordinator knows",
    ),
    kafka_rule(
        id="KFK-233",
        section=LIVENESS,
        source="KIP-664",
        sentence="A coordinator describes a transaction as it was ended.",
        assumes=DURABLE,
        judge=Holds(
            table="ends_described",
            when="TRUE",
            holds="state IN ('PrepareCommit', 'CompleteCommit') = committed"
            " AND state IN ('PrepareAbort', 'CompleteAbort') = (NOT committed)",
            show=("transactional_id", "transaction", "state", "committed", "end_op"),
            words=(
                "{transactional_id} is described as {state}",
                "op {end_op} ended transaction {transaction}, committed: {committed}",
            ),
        ),
        hint="is the state of the right transactional id told?",
    ),
    kafka_rule(
        id="KFK-234",
        section=OFFSETS,
        source="KIP-98; KIP-447",
        sentence="An offset of a transaction that was not committed is not told.",
        assumes=DURABLE,
        judge=Holds(
            table="offsets_within",
            when="committed_offset >= 0",
            holds="possible",
            show=("group_id", "committed_offset", "latest"),
            words=(
                "group {group_id} is told offset {committed_offset}",
                "no transaction with it was committed",
                "the last that was has {latest}",
            ),
        ),
        hint="are pending offsets dropped with an abort, and kept apart until a commit?",
    ),
    kafka_rule(
        id="KFK-235",
        section=OFFSETS,
        source="KIP-98; KIP-447",
        sentence="The offset told is of the last commit in the log that counts, or of a later one.",
        assumes=DURABLE,
        judge=Holds(
            table="offsets_within",
            when="latest IS NOT NULL",
            holds="allowed",
            show=("group_id", "committed_offset", "latest"),
            words=(
                "group {group_id} is told offset {committed_offset}",
                "the last commit that counted before has {latest}",
            ),
        ),
        hint="a pending offset counts once its marker is there, from its own place in the log",
    ),
)
