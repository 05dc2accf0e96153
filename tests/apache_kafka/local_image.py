"""An image that does what Apache Kafka's own does, made from what is on this machine.

Where no registry is at hand there is no official image. This one holds the same jars and starts the
same way: Kafka's own `KafkaDockerWrapper` turns variables into properties and formats the disk
unless that was done before, then the server runs. What it cannot show is whether the official image
is fit for the lab.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from harness.deployments.apache_kafka.jars import jars_folder
from harness.processes.java import find_java

MODULES = (
    "java.base java.desktop java.logging java.management java.management.rmi java.naming"
    " java.net.http java.rmi java.scripting java.security.jgss java.security.sasl java.sql java.xml"
    " jdk.crypto.ec jdk.management jdk.unsupported jdk.zipfs"
)
PROGRAMS = ("sh",)
LIBRARIES = re.compile(r"(/\S+\.so\S*)")
NAMES = ("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2")
ENTRY = """#!/bin/sh
set -ef
run="/java/bin/java ${KAFKA_HEAP_OPTS:--Xmx512m} -cp /opt/kafka/libs/*"
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


def build(folder: Path, tag: str) -> None:
    """Make the image, by `docker import` of a tree: no other image is needed."""
    tree = folder / "tree"
    _java(tree)
    shutil.copytree(jars_folder(), tree / "opt/kafka/libs")
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None
        (tree / "bin").mkdir(exist_ok=True)
        shutil.copy2(os.path.realpath(found), tree / "bin" / name)
    _libraries(tree)
    for name in ("opt/kafka/config", "mnt/shared/config", "etc/kafka/docker", "var/lib/kafka/data"):
        (tree / name).mkdir(parents=True)
    for name in ("log4j2.yaml", "tools-log4j2.yaml"):
        (tree / "etc/kafka/docker" / name).write_text(LOG_LEVELS, encoding="utf-8")
    (tree / "etc/kafka/docker/server.properties").write_text("", encoding="utf-8")
    (tree / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n", encoding="utf-8")
    (tree / "etc/nsswitch.conf").write_text("hosts: files dns\n", encoding="utf-8")
    (tree / "log.properties").write_text(LOGGING, encoding="utf-8")
    (tree / "tmp").mkdir()
    entry = tree / "entry.sh"
    entry.write_text(ENTRY, encoding="utf-8")
    entry.chmod(0o755)
    archive = folder / "tree.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(tree, arcname=".")
    shutil.rmtree(tree)
    start = 'ENTRYPOINT ["/entry.sh"]'
    volume = 'VOLUME ["/var/lib/kafka/data"]'
    command = ["docker", "import", "--change", start, "--change", volume, str(archive), tag]
    subprocess.run(command, check=True, capture_output=True)
    archive.unlink()


def _java(tree: Path) -> None:
    java = find_java()
    assert java is not None
    tree.mkdir(parents=True)
    jlink = java.home / "bin" / "jlink"
    modules = ",".join(MODULES.split())
    command = [str(jlink), "--add-modules", modules, "--output", str(tree / "java")]
    subprocess.run([*command, "--strip-debug", "--no-man-pages"], check=True, capture_output=True)


def _libraries(tree: Path) -> None:
    """Whatever the programs and Java's own libraries are linked with, at the same paths."""
    binaries = [*(tree / "bin").iterdir(), *(tree / "java/bin").iterdir()]
    binaries += (tree / "java/lib").rglob("*.so")
    wanted: set[str] = set()
    for one in binaries:
        told = subprocess.run(["ldd", str(one)], capture_output=True, text=True, check=False)
        wanted |= set(LIBRARIES.findall(told.stdout))
    system = [Path(one).parent for one in wanted if "/java/" not in one]
    wanted |= {str(place / name) for place in system for name in NAMES if (place / name).exists()}
    for path in sorted(wanted):
        if not path.startswith(str(tree)):
            (tree / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(os.path.realpath(path), tree / path.lstrip("/"))
