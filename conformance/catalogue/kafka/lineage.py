"""Leader epochs, transactions as a whole, and the offsets that groups commit.

An epoch has one leader and begins where that leader's log ended, which with clean elections is
beyond everything that earlier epochs had committed. That holds whenever the answers were given, so
that a deposed leader who goes on answering is no excuse and none is needed. A log without a disk
has no leader: any broker answers for it, in one epoch.

A transaction that a read_committed reader saw a record of is committed, in all its partitions. A
committed offset is a register: what is told was committed last, or by a commit that was under way.

Not promised, hence not judged: commits of offsets that never go back (a consumer may seek), and the
commit of a transaction whose end nobody recorded.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import DURABLE, LASTING, UNBROKEN, kafka_rule
from harness.rules import Holds
from spark_checkers.circumstances import DISKLESS

EPOCHS = "Leader epochs"
TRANSACTIONS = "Transactions"
GROUPS = "Committed offsets"


def epochs(when: str, holds: str, *show: str, words: tuple[str, ...]) -> Holds:
    return Holds(table="part_epochs", when=when, holds=holds, show=("epoch", *show), words=words)


def transactions(when: str, holds: str, *show: str, words: tuple[str, ...]) -> Holds:
    return Holds(
        table="part_transactions",
        when=when,
        holds=holds,
        show=("transaction", "read_op", *show),
        words=words,
    )


RULES = (
    kafka_rule(
        id="KFK-070",
        section=EPOCHS,
        source="KIP-101",
        sentence="Records of a leader epoch stand beyond all records of earlier epochs.",
        assumes=DURABLE,
        judge=epochs(
            "first_offset IS NOT NULL AND earlier_last_offset IS NOT NULL",
            "first_offset > earlier_last_offset",
            "first_offset",
            "earlier_last_offset",
            words=(
                "the first record of epoch {epoch} was read at offset {first_offset}",
                "one of an earlier epoch at {earlier_last_offset}",
            ),
        ),
        hint="a deposed leader appended, or a follower did not cut off what its leader never had",
    ),
    kafka_rule(
        id="KFK-071",
        requests=("list_offsets",),
        section=EPOCHS,
        source="KIP-101",
        sentence="A leader epoch has one leader.",
        allowed_under=(DISKLESS,),
        judge=epochs(
            "least_leader IS NOT NULL",
            "least_leader = greatest_leader",
            "least_leader",
            "greatest_leader",
            words=(
                "as leaders of epoch {epoch} answered nodes {least_leader} and {greatest_leader}",
            ),
        ),
        hint="is the epoch raised with every change of leader?",
    ),
    kafka_rule(
        id="KFK-072",
        requests=("offset_for_leader_epoch",),
        section=EPOCHS,
        source="KIP-279",
        sentence="The end of an epoch parts its records from those of later epochs.",
        assumes=DURABLE,
        allowed_under=(DISKLESS,),
        judge=Holds(
            table="part_epoch_ends",
            when="TRUE",
            # The leader's own epoch ends with its log, and not all of that may be committed: it
            # grows, and a later leader may begin below it.
            holds="skipped_epoch IS NULL AND (leader_epoch >= current_leader_epoch"
            " OR coalesce(later_first >= answered_offset, TRUE)"
            " AND coalesce(last_within < answered_offset, TRUE))",
            show=(
                "asked_epoch",
                "current_leader_epoch",
                "leader_epoch",
                "answered_offset",
                "skipped_epoch",
                "later_first",
                "last_within",
            ),
            words=(
                "asked about epoch {asked_epoch} in epoch {current_leader_epoch}",
                "the answer is that epoch {leader_epoch} ends at {answered_offset}",
                "records were read of epoch {skipped_epoch}, which lies between",
                "later epochs begin at {later_first}",
                "the last record up to that epoch was read at {last_within}",
            ),
        ),
        hint="a follower cuts its log by this answer",
    ),
    kafka_rule(
        id="KFK-073",
        section=EPOCHS,
        source="KIP-101",
        sentence="A leader epoch begins beyond everything that earlier epochs showed as committed.",
        assumes=DURABLE,
        judge=epochs(
            "earlier_committed_to IS NOT NULL AND (first_offset IS NOT NULL OR latest IS NOT NULL)",
            "coalesce(first_offset >= earlier_committed_to, TRUE)"
            " AND coalesce(latest >= earlier_committed_to, TRUE)",
            "first_offset",
            "latest",
            "earlier_committed_to",
            words=(
                "epochs before {epoch} showed the log committed up to {earlier_committed_to}",
                "its first record was read at {first_offset}",
                "its leader named {latest} as latest",
            ),
        ),
        hint="a leader was elected that lacked committed records",
    ),
    kafka_rule(
        id="KFK-075",
        section=GROUPS,
        awaits="consumer groups",
        unproven=UNBROKEN,
        source="documentation, Design: consumer offset tracking",
        sentence="The committed offset told is the last committed, or one then being committed.",
        assumes=DURABLE,
        judge=Holds(
            table="part_groups",
            when="overwritten_since IS NOT NULL",
            holds="until >= overwritten_since",
            show=("group_id", "committed_offset", "overwritten_since", "until"),
            words=(
                "group {group_id} was told offset {committed_offset}",
                "its last commit of that offset was over at {until}",
                "a commit that began at {overwritten_since} was over before the question",
            ),
        ),
        hint="a coordinator that answers before it has read the offsets log to its end",
    ),
    kafka_rule(
        id="KFK-080",
        section=TRANSACTIONS,
        source="KIP-98",
        sentence="A transaction of which read_committed readers see a record is seen whole.",
        assumes=LASTING,
        judge=transactions(
            "read_op IS NOT NULL AND records > 1",
            "missed = 0",
            "records",
            "missed",
            "missed_op",
            "missed_offset",
            words=(
                "op {read_op} read a record of transaction {transaction}",
                "{missed} of its {records} records were passed over",
                "the first is that of op {missed_op} at offset {missed_offset}",
            ),
        ),
        hint="a marker that is missing in one partition, or one of another transaction",
    ),
    kafka_rule(
        id="KFK-081",
        section=TRANSACTIONS,
        source="KIP-98",
        sentence="A transaction that was not committed is not seen by read_committed readers.",
        assumes=DURABLE,
        judge=transactions(
            "ends > 0 AND commit_began IS NULL",
            "read_op IS NULL",
            "ends",
            words=(
                "op {read_op} read a record of transaction {transaction}",
                "it was ended {ends} times and never by a commit",
            ),
        ),
        hint="are aborted transactions listed with the answer that holds their records?",
    ),
    kafka_rule(
        id="KFK-082",
        section=TRANSACTIONS,
        source="KIP-98",
        sentence="No record of a transaction is seen by read_committed readers before its commit.",
        judge=transactions(
            "read_op IS NOT NULL AND commit_began IS NOT NULL AND one_clock",
            "first_read >= commit_began",
            "first_read",
            "commit_began",
            words=(
                "op {read_op} read a record of transaction {transaction}",
                "the first was read by {first_read}",
                "nobody asked to commit it before {commit_began}",
            ),
        ),
        hint="is the last stable offset held back by every open transaction?",
    ),
)
