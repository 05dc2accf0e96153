"""Getting the jars: once per machine, by the Maven that is set up there, each one checked.

Where they come from is Maven's business; what they are is ours. A jar whose checksum is not the one
in `jars.sha256` never gets its final name, whichever mirror it came from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.errors import CannotConnect
from harness.launcher.cache import cache_folder, short_hash
from harness.launcher.tools import Tools, locked
from harness.processes.kafka_release import VERSION, checksums, pom

ROOT = Path(__file__).parents[2]
WITHOUT_IT = "Nothing else needs it."
OR_ELSE = f"With Docker, --world docker takes its image instead. {WITHOUT_IT}"


class KafkaUnavailable(CannotConnect):
    """Apache Kafka cannot be had on this machine; one sentence says why and what to do."""


def jars_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of all jars, fetched now if they were never fetched before."""
    environ = os.environ if environ is None else environ
    wanted = checksums()
    key = short_hash(*(f"{name} {digest}" for name, digest in wanted.items()))
    cache = cache_folder(environ, ROOT) / "apache-kafka"
    folder = cache / f"{VERSION}-{key}"
    if folder.exists():
        return folder
    maven = shutil.which("mvn", path=environ.get("PATH", os.defpath))
    if maven is None:
        raise KafkaUnavailable(
            f"Apache Kafka {VERSION} is not on this machine, and neither is Maven, which fetches"
            f" it: install Maven (on Debian or Ubuntu: apt-get install maven). {OR_ELSE}"
        )
    with locked(cache / "fetch.lock", f"the folder of Apache Kafka {VERSION}"):
        if not folder.exists():
            _fetch(maven, folder, wanted)
    return folder


def _fetch(maven: str, folder: Path, wanted: Mapping[str, str]) -> None:
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        tools = Tools(folder.with_name("fetch.log"))
        bring(maven, partial, tools)
        if wrong := mistakes(partial, wanted):
            raise KafkaUnavailable(
                f"Maven brought jars that are not those of Apache Kafka {VERSION}"
                f" ({', '.join(wrong)}); look at the repository it is set up for. {WITHOUT_IT}"
            )
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def bring(maven: str, folder: Path, tools: Tools) -> None:
    """Let Maven copy everything the pom names into a folder."""
    project = folder / "pom.xml"
    project.write_text(pom(), encoding="utf-8")
    title = f"fetching Apache Kafka {VERSION} (54 jars, 47 MB, once per machine)"
    command = [maven, "-B", "-f", str(project), "dependency:copy-dependencies"]
    if tools.attempt(title, [*command, f"-DoutputDirectory={folder}", "-Dstyle.color=never"]):
        raise KafkaUnavailable(
            f"Apache Kafka {VERSION} cannot be fetched: Maven failed, and its words are in"
            f" {tools.log}. {OR_ELSE}"
        )
    project.unlink()
    shutil.rmtree(folder / "target", ignore_errors=True)


def mistakes(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """The names of jars that are missing, unknown or not what they should be."""
    found = {path.name: _digest(path) for path in sorted(folder.glob("*.jar"))}
    return sorted(name for name in {**wanted, **found} if wanted.get(name) != found.get(name))


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def main() -> int:
    """Fetch without checking, and print the checksums: for a change of the version."""
    maven = shutil.which("mvn")
    if maven is None:
        print("There is no Maven here.", file=sys.stderr)
        return KafkaUnavailable.exit_code
    folder = cache_folder(os.environ, ROOT) / "apache-kafka" / "unchecked"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bring(maven, folder, Tools(folder.with_name("fetch.log")))
    for path in sorted(folder.glob("*.jar")):
        print(f"{_digest(path)}  {path.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
