"""Shards merged block by block give the bytes that merging them line by line gives."""

from __future__ import annotations

import io
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.history import merged_blocks
from harness.history.lines import encode
from harness.history.merged_blocks import NotPlain, sealed_blocks
from harness.history.seal import merge_shards, shard_readers

Lines = list[tuple[int, str, str]]
"""Of each line its time, its clock and a text."""

HEADER: dict[str, Any] = {"kind": "header", "format": 1}
lines = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["host", "other"]), st.text("ab", max_size=60)),
    max_size=12,
)


def shard(folder: Path, name: str, lines: Lines) -> Path:
    """A shard of clock `host`."""
    path = folder / f"{name}.jsonl"
    events: list[dict[str, Any]] = [
        {"kind": "phase", "time": time, "clock": clock, "process": 0, "name": text}
        for time, clock, text in lines
    ]
    first = {"kind": "shard", "format": 1, "writer": name, "clock": "host"}
    last = {"kind": "end", "lines": len(events)}
    path.write_bytes(b"".join(map(encode, [first, *events, last])))
    return path


def by_lines(folder: Path) -> bytes:
    out = io.BytesIO()
    merge_shards(folder, HEADER, folder / "history.jsonl", out)
    return b"".join(out.getvalue().splitlines(keepends=True)[1:-1])


def by_blocks(folder: Path) -> bytes:
    with ExitStack() as stack:
        readers = [stack.enter_context(one) for one in shard_readers(folder)]
        return b"".join(block for _, block in sealed_blocks(readers))


@given(st.lists(lines, max_size=4))
@example([[(1, "host", "a"), (0, "host", "b")], [(1, "host", "c")]])
@example([[(3, "other", "a"), (2, "host", "")], [(0, "host", "c"), (2, "host", "d")]])
def test_blocks_are_merged_as_lines_are(shards: list[Lines]) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(merged_blocks, "LEAST_BLOCK_BYTES", 200)
        patched.setattr(merged_blocks, "LARGEST_BLOCK_BYTES", 200)
        for number, each in enumerate(shards):
            shard(Path(folder), f"w{number}", each)

        assert by_blocks(Path(folder)) == by_lines(Path(folder))


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"phase","time":-1,"clock":"host","process":0}',
        b'{"time":1,"kind":"phase","clock":"host","process":0}',
        b'{"kind":"phase","time":1234567890123456789,"clock":"host"}',
        b'{"kind":"phase","time":1,"clock":"h\\u00f6st"}',
        b'{"kind":"phrase","time":1,"clock":"host"}',
        b'{"kind":"phase"',
        b'{"kind":"end","lines":7}',
    ],
)
def test_a_line_that_is_not_plain_is_not_passed_over(line: bytes, tmp_path: Path) -> None:
    path = shard(tmp_path, "w", [(1, "host", "a")])
    first, event, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + event + line + b"\n" + event + last)

    with pytest.raises(NotPlain):
        by_blocks(tmp_path)


def test_a_shard_that_is_cut_is_not_passed_over(tmp_path: Path) -> None:
    path = shard(tmp_path, "w", [(1, "host", "a")])
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(NotPlain):
        by_blocks(tmp_path)
