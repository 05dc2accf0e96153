"""What Apache Kafka answered to recorded sequences of raw requests, every other system answers too.

A sequence is a few requests with one story (`harness/differential`). Kafka's answers lie beside it,
with symbols for what each cluster chooses itself. One rule for each family of sequences: an answer
differs from Kafka's in no field, except where `allowed_differences.json` gives the reason. The text
of error messages and the order of entries that have names are not compared. A sequence that cannot
be played to its end, because the system never does what it acknowledged, breaks the rule as well.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import kafka_rule
from harness.rules import Holds, Rule

SEQUENCES = "Answers of Apache Kafka"
_SOURCE = "what Apache Kafka 4.3.1 answered, harness/differential/answers"
_WORDS = (
    "{sequence} step {step}, {api} v{version}",
    "{field} is {seen}",
    "Apache Kafka answers {expected}",
    "{detail}",
    "python -m harness.differential show {sequence} shows the requests",
)

# family: (id, sentence, hint)
FAMILIES: dict[str, tuple[str, str, str]] = {
    "produce": (
        "KFK-110",
        "Produce requests, well-formed or not, are answered as Apache Kafka answers them.",
        "checks of a batch before it is appended: checksum, counts, timestamps, size, acks",
    ),
    "idempotence": (
        "KFK-111",
        "Idempotent producers are answered as Apache Kafka answers them.",
        "sequence numbers, epochs, and the window of five batches in which a repeat is known",
    ),
    "fetch": (
        "KFK-112",
        "Fetch requests are answered as Apache Kafka answers them.",
        "limits in bytes, offsets at and beyond the bounds of a log, epochs, versions",
    ),
    "fetch_sessions": (
        "KFK-113",
        "Fetch sessions are kept as Apache Kafka keeps them.",
        "session epochs, forgotten and added partitions, what an incremental answer leaves out",
    ),
    "offsets": (
        "KFK-114",
        "Offsets are listed and records deleted as Apache Kafka does it.",
        "ListOffsets by time and by special timestamps, OffsetForLeaderEpoch, DeleteRecords",
    ),
    "topics": (
        "KFK-115",
        "Topics are created, grown and deleted as Apache Kafka does it.",
        "names, counts, assignments, validate_only, and the order of the checks",
    ),
    "configs": (
        "KFK-116",
        "Configurations are described, altered and obeyed as in Apache Kafka.",
        "sources and synonyms of a value, append and subtract, what is refused",
    ),
    "cluster": (
        "KFK-117",
        "The cluster and its topics are described as Apache Kafka describes them.",
        "ApiVersions, Metadata, DescribeCluster, DescribeTopicPartitions, DescribeLogDirs",
    ),
    "malformed": (
        "KFK-118",
        "Requests that cannot be read are met as Apache Kafka meets them.",
        "when is the connection closed, and when does an answer come?",
    ),
    "replicated": (
        "KFK-119",
        "Replicated partitions are led, moved and read as in Apache Kafka.",
        "who leads, who is in sync, min.insync.replicas, reassignments and elections",
    ),
    "transactions": (
        "KFK-120",
        "Transactions are coordinated, written and read as in Apache Kafka.",
        "coordinators, producer ids and epochs, ends of transactions, markers, what is committed",
    ),
    "group_offsets": (
        "KFK-121",
        "Offsets of groups are committed, fetched and deleted as in Apache Kafka.",
        "generations, metadata, topic ids, offsets that a transaction has not decided yet",
    ),
}


def as_kafka_answers(family: str) -> Holds:
    """The judge of a family."""
    return Holds(
        table="sequence_answers",
        when=f"family = '{family}' AND (differences IS NOT NULL OR detail IS NOT NULL)",
        holds="detail IS NULL AND differences = 0",
        show=("sequence", "step", "api", "version", "field", "seen", "expected", "detail"),
        words=_WORDS,
    )


def _rule(family: str, id_: str, sentence: str, hint: str) -> Rule:
    return kafka_rule(
        id=id_,
        section=SEQUENCES,
        source=_SOURCE,
        sentence=sentence,
        judge=as_kafka_answers(family),
        hint=hint,
    )


RULES = tuple(_rule(family, *told) for family, told in FAMILIES.items())
