"""Which Apache Kafka: one version, its jars by Maven coordinates, and their checksums.

Connect is left out: its forty jars are only wanted by tools that we do not use. The slf4j binding
is the one for slf4j 1.7, which is what Kafka is compiled against.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

VERSION = "4.3.1"
LOG4J_VERSION = "2.25.1"

CHECKSUMS = Path(__file__).with_name("jars.sha256")

_CONNECT = (
    "connect-api",
    "connect-basic-auth-extension",
    "connect-file",
    "connect-json",
    "connect-mirror",
    "connect-mirror-client",
    "connect-runtime",
    "connect-transforms",
)


def checksums() -> Mapping[str, str]:
    """The sha256 of each jar, by its file name."""
    lines = CHECKSUMS.read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def pom() -> str:
    """A project that consists of nothing but its dependencies."""
    kafka = "org.apache.kafka"
    dependencies = [
        _dependency(kafka, "kafka_2.13", VERSION),
        _dependency(kafka, "kafka-storage", VERSION, classifier="test"),  # LocalTieredStorage
        _dependency(kafka, "kafka-tools", VERSION, without=_CONNECT),
        _dependency("org.apache.logging.log4j", "log4j-core", LOG4J_VERSION),
        _dependency("org.apache.logging.log4j", "log4j-slf4j-impl", LOG4J_VERSION),
    ]
    return "\n".join(
        [
            '<project xmlns="http://maven.apache.org/POM/4.0.0">',
            "<modelVersion>4.0.0</modelVersion>",
            "<groupId>tidemark</groupId><artifactId>apache-kafka</artifactId>",
            f"<version>{VERSION}</version>",
            "<dependencies>",
            *dependencies,
            "</dependencies></project>",
        ]
    )


def _dependency(
    group: str, artifact: str, version: str, *, classifier: str = "", without: tuple[str, ...] = ()
) -> str:
    left_out = "".join(
        f"<exclusion><groupId>{group}</groupId><artifactId>{one}</artifactId></exclusion>"
        for one in without
    )
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version>"
        + (f"<classifier>{classifier}</classifier>" if classifier else "")
        + (f"<exclusions>{left_out}</exclusions>" if left_out else "")
        + "</dependency>"
    )
