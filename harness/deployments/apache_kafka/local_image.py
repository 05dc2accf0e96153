"""An image that does what Apache Kafka's own does, made from what is on this machine.

Where no registry is at hand there is no official image. This one holds the pinned jars and starts
the same way: Kafka's own `KafkaDockerWrapper` turns variables into properties and formats the disk
unless that was done before, then the server runs. What it cannot show is whether the official image
is fit for the lab.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from harness.deployments.apache_kafka.jars import jars_folder
from harness.deployments.apache_kafka.jvm import installed_java
from harness.deployments.docker.images import made
from harness.deployments.docker.tree import Tree, digest_of
from harness.processes.java import find_java
from harness.processes.kafka_release import VERSION
from harness.scratch import ScratchFolder

NAME = "tidemark/apache-kafka"
JARS = "/opt/kafka/libs"
MODULES = (
    "java.base java.desktop java.logging java.management java.management.rmi java.naming"
    " java.net.http java.rmi java.scripting java.security.jgss java.security.sasl java.sql java.xml"
    " jdk.crypto.ec jdk.management jdk.unsupported jdk.zipfs"
)
WRITABLE = (
    "/opt/kafka/config",
    "/mnt/shared/config",
    "/etc/kafka/docker",
    "/var/lib/kafka/data",
)
ENTRY = """#!/bin/sh
set -ef
run="/java/bin/java ${KAFKA_HEAP_OPTS:--Xmx512m} ${KAFKA_JVM_PERFORMANCE_OPTS}"
run="$run -cp /opt/kafka/libs/*"
setup="--default-configs-dir /etc/kafka/docker --mounted-configs-dir /mnt/shared/config"
setup="$setup --final-configs-dir /opt/kafka/config"
told=$($run kafka.docker.KafkaDockerWrapper setup $setup 2>&1) || {
  case "$told" in *"already formatted"*) ;; *) echo "$told"; exit 1 ;; esac
}
logging="-Dlog4j2.configurationFile=/log.properties"
exec $run $logging kafka.Kafka /opt/kafka/config/server.properties
"""
LOGGING = """appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c{1})%n
rootLogger.level=info
rootLogger.appenderRef.out.ref=OUT
"""
LOG_LEVELS = """Configuration:
  Appenders:
    Console:
      name: STDOUT
      PatternLayout:
        pattern: "[%d] %p %m (%c)%n"
  Loggers:
    Root:
      level: INFO
      AppenderRef:
        - ref: STDOUT
"""


def local_image(client: Any) -> str:
    """The image, made now if this engine has none like it; KafkaUnavailable without jars."""
    installed_java()
    jars = jars_folder()
    java = find_java()
    assert java is not None
    names = sorted(path.name for path in jars.iterdir())
    tag = f"{NAME}:{VERSION}-{digest_of([ENTRY, LOGGING, str(java.major), *names])}"
    return made(client, tag, lambda: _build(client, tag, jars, java.home))


def _build(client: Any, tag: str, jars: Path, java: Path) -> None:
    tree = Tree()
    with ScratchFolder("kafka-image") as folder:
        linked = folder / "java"
        command = [str(java / "bin" / "jlink"), "--add-modules", ",".join(MODULES.split())]
        command += ["--output", str(linked), "--strip-debug", "--no-man-pages"]
        subprocess.run(command, check=True, capture_output=True)
        tree.add(linked, "/java")
        tree.add(jars, JARS)
        tree.program("sh")
        tree.libraries()
        for name in ("log4j2.yaml", "tools-log4j2.yaml"):
            tree.write(f"/etc/kafka/docker/{name}", LOG_LEVELS)
        tree.write("/etc/kafka/docker/server.properties", "")
        tree.write("/etc/passwd", "root:x:0:0::/:/bin/sh\n")
        tree.write("/etc/nsswitch.conf", "hosts: files dns\n")
        tree.write("/log.properties", LOGGING)
        tree.write("/entry.sh", ENTRY)
        changes = ['ENTRYPOINT ["/entry.sh"]', 'VOLUME ["/var/lib/kafka/data"]']
        tree.imported(client, tag, changes=changes, folders=WRITABLE)
