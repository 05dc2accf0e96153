"""Which metadata partition a user partition belongs to, against published values."""

from __future__ import annotations

import pytest

from reference_impl.tiered.partitioner import PARTITIONERS, murmur2, to_positive
from reference_impl.tiered.segments import TopicIdPartition, id_of

# topic, topic id, partition, murmur2 of the name, without sign, partition of 50, Kafka's function
VECTOR_1 = """
orders            AAECAwQFBgcICQoLDA0ODw   0     -2489825  2144993823  23  45
orders            AAECAwQFBgcICQoLDA0ODw   1    253392195   253392195  45   3
payments          fZ88IVuOSmCcHS5PaosMPQ  12    549802835   549802835  35  16
clicks.eu-west-1  AAAAAAAAAHsAAAAAAAAAew   3  -1295403987   852079661  11  11
metrics_2024      AAECAwQFBgcICQoLDA0ODw  49   1572709290  1572709290  40  49
orders            fZ88IVuOSmCcHS5PaosMPQ   0     -2489825  2144993823  23  34
"""


@pytest.mark.parametrize("row", VECTOR_1.strip().splitlines())
def test_a_user_partition_has_the_metadata_partition_of_the_vector(row: str) -> None:
    topic, topic_id, number, hashed, positive, by_name, kafka4 = row.split()
    partition = TopicIdPartition(id_of(topic_id), topic, int(number))

    assert murmur2(f"{topic}-{number}".encode()) == int(hashed)
    assert to_positive(int(hashed)) == int(positive)
    assert PARTITIONERS["name"](partition, 50) == int(by_name)
    assert PARTITIONERS["kafka4"](partition, 50) == int(kafka4)


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("abc", 479470107),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    ],
)
def test_the_hash_is_kafkas(text: str, hashed: int) -> None:
    assert murmur2(text.encode()) == hashed
