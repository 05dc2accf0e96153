"""Which Kafka it is: pinned to the byte, and named by coordinates alone."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from harness.processes.kafka_release import VERSION, checksums, pom

MAVEN = "{http://maven.apache.org/POM/4.0.0}"


def test_the_pom_names_five_dependencies_by_coordinates() -> None:
    project = ElementTree.fromstring(pom())
    found = [
        tuple(one.findtext(f"{MAVEN}{name}") for name in ("artifactId", "version", "classifier"))
        for one in project.iter(f"{MAVEN}dependency")
    ]

    assert found == [
        ("kafka_2.13", VERSION, None),
        ("kafka-storage", VERSION, "test"),
        ("kafka-tools", VERSION, None),
        ("log4j-core", "2.25.1", None),
        ("log4j-slf4j-impl", "2.25.1", None),
    ]


def test_the_pom_names_no_repository() -> None:
    assert not re.findall(r"https?://(?!maven\.apache\.org/POM)", pom())


def test_every_jar_has_a_checksum() -> None:
    pinned = checksums()

    assert len(pinned) == 54
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in pinned.values())
    assert f"kafka_2.13-{VERSION}.jar" in pinned
    assert f"kafka-storage-{VERSION}-test.jar" in pinned


def test_connect_is_not_among_the_jars() -> None:
    assert [name for name in checksums() if name.startswith("connect")] == []
