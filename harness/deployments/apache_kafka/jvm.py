"""How a program from the jars is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.deployments.apache_kafka.jars import OR_ELSE, KafkaUnavailable, jars_folder
from harness.deployments.apache_kafka.properties import LOGGING
from harness.processes.java import find_java

CHEAP_JAVA = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Quick to start and light on a small machine. For throughput, give Java its own defaults."""


def installed_java() -> Path:
    """The program, or KafkaUnavailable."""
    java = find_java()
    if java is None:
        raise KafkaUnavailable(
            "Apache Kafka needs Java 17 or newer, and there is none here: install it (on"
            " Debian or Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME."
            f" {OR_ELSE}"
        )
    return java.path


def java_command(folder: Path, options: Sequence[str] = CHEAP_JAVA) -> list[str]:
    """Everything up to the class: who starts it also says `-Dtidemark.log=FILE`."""
    java = installed_java()
    folder.mkdir(parents=True, exist_ok=True)
    logging = folder / "logging.properties"
    logging.write_text(LOGGING, encoding="utf-8")
    return [
        str(java),
        *options,
        f"-Dlog4j2.configurationFile={logging}",
        "-cp",
        f"{jars_folder()}/*",
    ]
