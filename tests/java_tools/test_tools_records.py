"""Tools that write, read, count, measure and delete records, and one that reads the files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.deployments.apache_kafka import JavaTools
from harness.deployments.process_cluster import ProcessCluster

pytestmark = pytest.mark.foreign

TOOLS = "org.apache.kafka.tools"
KEYED = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
SHOWN = ("--formatter-property", "print.key=true", "--formatter-property", "print.offset=true")


def ends(tools: JavaTools, topic: str, time: str = "latest") -> dict[int, int]:
    out = tools.run(f"{TOOLS}.GetOffsetShell", "--topic", topic, "--time", time)
    return {int(p): int(o) for p, o in re.findall(rf"^{topic}:(\d+):(\d+)$", out, re.MULTILINE)}


def consumed(tools: JavaTools, topic: str, partition: int, offset: str, count: int) -> list[str]:
    where = ("--topic", topic, "--partition", str(partition), "--offset", offset)
    consumer = f"{TOOLS}.consumer.ConsoleConsumer"
    told = tools.attempt(consumer, *where, "--max-messages", str(count), *SHOWN)
    assert told.code == 0, told
    assert f"Processed a total of {count} messages" in told.err
    return told.lines


def test_what_the_console_producer_is_told_the_console_consumer_prints(
    tools: JavaTools, topic: str
) -> None:
    typed = "".join(f"{'even' if n % 2 == 0 else 'odd'}:v{n}\n" for n in range(8))
    tools.run(f"{TOOLS}.ConsoleProducer", "--topic", topic, *KEYED, typed=typed)

    seen = {
        partition: consumed(tools, topic, partition, "earliest", count)
        for partition, count in ends(tools, topic).items()
        if count
    }

    values = [re.split(r"\t", line)[1:] for lines in seen.values() for line in lines]
    assert [value for key, value in values if key == "even"] == ["v0", "v2", "v4", "v6"]
    assert [value for key, value in values if key == "odd"] == ["v1", "v3", "v5", "v7"]
    for lines in seen.values():
        assert [line.split("\t")[0] for line in lines] == [
            f"Offset:{at}" for at in range(len(lines))
        ]


@pytest.mark.parametrize("codec", ["gzip", "lz4", "snappy", "zstd"])
def test_compressed_records_come_back(tools: JavaTools, topic: str, codec: str) -> None:
    typed = "".join(f"k:{codec} {n}\n" for n in range(20))
    compressed = ("--compression-codec", codec)
    tools.run(f"{TOOLS}.ConsoleProducer", "--topic", topic, *compressed, *KEYED, typed=typed)

    (partition,) = [number for number, end in ends(tools, topic).items() if end]

    assert consumed(tools, topic, partition, "18", 2) == [
        f"Offset:18\tk\t{codec} 18",
        f"Offset:19\tk\t{codec} 19",
    ]


def test_deleted_records_are_below_the_new_start(
    tools: JavaTools, topic: str, tmp_path: Path
) -> None:
    typed = "".join(f"k:v{n}\n" for n in range(5))
    tools.run(f"{TOOLS}.ConsoleProducer", "--topic", topic, *KEYED, typed=typed)
    (partition,) = [number for number, end in ends(tools, topic).items() if end]
    plan = tmp_path / "delete.json"
    asked = [{"topic": topic, "partition": partition, "offset": 3}]
    plan.write_text(json.dumps({"version": 1, "partitions": asked}), encoding="utf-8")

    said = tools.run(f"{TOOLS}.DeleteRecordsCommand", "--offset-json-file", str(plan))

    assert f"partition: {topic}-{partition}\tlow_watermark: 3" in said
    assert ends(tools, topic, "earliest")[partition] == 3
    assert consumed(tools, topic, partition, "earliest", 1) == ["Offset:3\tk\tv3"]


def test_the_verifiable_producer_is_acknowledged_by_all(tools: JavaTools, topic: str) -> None:
    arguments = ("--topic", topic, "--max-messages", "50", "--acks", "-1")
    said = tools.run(f"{TOOLS}.VerifiableProducer", *arguments)

    events = [json.loads(line) for line in said.splitlines() if line]
    sent = [one for one in events if one["name"] == "producer_send_success"]

    assert (events[-1]["sent"], events[-1]["acked"]) == (50, 50)
    assert sorted(int(one["value"]) for one in sent) == list(range(50))
    assert sum(ends(tools, topic).values()) == 50


def test_the_producers_measure_and_the_replicas_agree(tools: JavaTools, topic: str) -> None:
    load = ("--num-records", "2000", "--record-size", "200", "--throughput", "-1")
    said = tools.run(f"{TOOLS}.ProducerPerformance", "--topic", topic, *load)
    assert "2000 records sent" in said

    verify = ("--broker-list", tools.bootstrap, "--topics-include", topic)
    every = ("--report-interval-ms", "100")
    line = tools.first_line("max lag is", f"{TOOLS}.ReplicaVerificationTool", *verify, *every)

    assert "max lag is 0 for partition" in line
    assert line.endswith("among 2 partitions")


def test_kafka_reads_the_log_files_of_a_broker(
    tools: JavaTools, cluster: ProcessCluster, topic: str
) -> None:
    tools.run(f"{TOOLS}.ConsoleProducer", "--topic", topic, *KEYED, typed="k:one\nk:two\n")
    (partition,) = [number for number, end in ends(tools, topic).items() if end]
    file = cluster.folder / "broker-1" / f"{topic}-{partition}" / f"{0:020}.log"

    told = tools.bare(f"{TOOLS}.DumpLogSegments", "--files", str(file), "--print-data-log")

    assert told.code == 0, told
    assert "isvalid: true" in told.out
    assert re.findall(r"key: (\S+) payload: (\S+)", told.out) == [("k", "one"), ("k", "two")]
