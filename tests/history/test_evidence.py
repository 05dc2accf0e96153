"""A run folder in which something was changed says so, however its history is compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.history import Run, evidence
from harness.history.evidence import contradictions

HOST, OTHER = "host", "other"


def write(folder: Path) -> Run:
    """Two writers at the same times, one of them for two clocks."""
    run = Run.create(folder, run="1", sut="x", world="process")
    for name in ("a", "b"):
        with run.shard(name, HOST) as shard:
            for time in range(3):
                line = {"process": time, "type": "invoke", "f": name, "value": 'é\\"'}
                shard.write({"kind": "op", "time": time, **line})
                shard.write({"kind": "op", "time": 9 - time, "clock": OTHER, **line})
    return run


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old, new, 1)


def swapped(content: bytes) -> bytes:
    """Two neighbours, each with the index that is due."""
    lines = content.split(b"\n")
    lines[1], lines[2] = (
        lines[2].replace(b'"index":1', b'"index":0'),
        lines[1].replace(b'"index":0', b'"index":1'),
    )
    return b"\n".join(lines)


CHANGES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "a value in a shard": ("shards/a.jsonl", replaced(b'"process":1', b'"process":7')),
    "a time in a shard": ("shards/b.jsonl", replaced(b'"time":2', b'"time":0')),
    "a clock in a shard": ("shards/b.jsonl", replaced(b'"clock":"other"', b'"clock":"third"')),
    "a line too many in a shard": ("shards/a.jsonl", lambda text: text + text.split(b"\n")[1]),
    "a shard without its end": ("shards/a.jsonl", lambda text: text[: text.rindex(b"{")]),
    "an empty shard": ("shards/b.jsonl", lambda text: b""),
    "no JSON in a shard": ("shards/b.jsonl", replaced(b'"process":1,', b'"process":1,,')),
    "a value in the history": ("history.jsonl", replaced(b'"process":1', b'"process":7')),
    "two lines of the history": ("history.jsonl", swapped),
    "the header of the history": ("history.jsonl", replaced(b'"sut":"x"', b'"sut":"y"')),
    "the count of the history": ("history.jsonl", replaced(b'"events":12', b'"events":11')),
    "something behind the history": ("history.jsonl", lambda text: text + b"{}\n"),
    "a history that is cut": ("history.jsonl", lambda text: text[: len(text) // 2]),
}


def test_a_sound_history_is_held_against_its_shards_without_sealing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "run").seal()
    monkeypatch.delattr(evidence, "seal_shards")

    assert contradictions(tmp_path / "run", sound=True) == []


def test_a_large_sound_history_is_held_against_its_shards_block_by_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "run").seal()
    monkeypatch.setattr(evidence, "LARGE_BYTES", 0)
    monkeypatch.delattr(evidence, "merge_shards")

    assert contradictions(tmp_path / "run", sound=True) == []


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_told_of_a_large_history_too(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write(tmp_path / "run")
    run.seal()
    name, how = CHANGES[change]
    path = run.folder / name
    path.write_bytes(how(path.read_bytes()))
    monkeypatch.setattr(evidence, "LARGE_BYTES", 0)

    assert contradictions(run.folder, sound=True) == contradictions(run.folder) != []


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_told_whether_lines_are_known_to_be_sound_or_not(
    change: str, tmp_path: Path
) -> None:
    run = write(tmp_path / "run")
    run.seal()
    name, how = CHANGES[change]
    path = run.folder / name
    path.write_bytes(how(path.read_bytes()))

    told = contradictions(run.folder)

    assert told != []
    assert contradictions(run.folder, sound=True) == told


def test_what_sealing_left_out_is_no_contradiction(tmp_path: Path) -> None:
    run = write(tmp_path / "run")
    path = run.folder / "shards" / "a.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"process":1,', b'"process":1,,', 1))
    run.seal()

    assert contradictions(run.folder, sound=True) == []
