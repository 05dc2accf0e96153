"""Getting the jars, and the one sentence where they cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.deployments.apache_kafka.jars import KafkaUnavailable, jars_folder, mistakes


def environ(tmp_path: Path, maven: str | None = None) -> dict[str, str]:
    """A machine with an empty cache, and a Maven that does what this script says."""
    tools = tmp_path / "bin"
    tools.mkdir()
    if maven is not None:
        program = tools / "mvn"
        program.write_text(f"#!/bin/sh\n{maven}\n", encoding="utf-8")
        program.chmod(0o755)
    return {"PATH": str(tools), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_without_maven_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(KafkaUnavailable, match=r"neither is Maven.*apt-get install maven"):
        jars_folder(environ(tmp_path))


def test_where_maven_fails_its_words_are_kept_and_no_jars_are(tmp_path: Path) -> None:
    machine = environ(tmp_path, "echo the repository is on holiday; exit 1")

    with pytest.raises(KafkaUnavailable, match=r"Maven failed, and its words are in .*fetch\.log"):
        jars_folder(machine)

    kept = tmp_path / "cache" / "tidemark" / "apache-kafka"
    assert "on holiday" in (kept / "fetch.log").read_text(encoding="utf-8")
    assert list(kept.glob("*/*.jar")) == []


def test_jars_that_are_not_the_pinned_ones_are_never_used(tmp_path: Path) -> None:
    brings_another = (
        'for word; do case $word in -DoutputDirectory=*) folder="${word#*=}";; esac; done\n'
        'echo something else > "$folder/kafka-clients-4.3.1.jar"'
    )
    machine = environ(tmp_path, brings_another)

    with pytest.raises(KafkaUnavailable, match=r"not those of Apache Kafka .*kafka-clients"):
        jars_folder(machine)

    assert list((tmp_path / "cache" / "tidemark" / "apache-kafka").glob("*/*.jar")) == []


def test_missing_changed_and_unknown_jars_are_all_mistakes(tmp_path: Path) -> None:
    for name in ("right.jar", "changed.jar", "unknown.jar"):
        (tmp_path / name).write_bytes(b"")
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    wanted = {"right.jar": nothing, "changed.jar": "0" * 64, "missing.jar": nothing}

    assert mistakes(tmp_path, wanted) == ["changed.jar", "missing.jar", "unknown.jar"]
