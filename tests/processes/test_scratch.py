"""Temporary folders: gone with their owner, or cleared by the next lab if it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

from harness.scratch import MARK, PREFIX, ScratchFolder, clear_abandoned

OWNER = """
import sys
from harness.scratch import ScratchFolder
folder = ScratchFolder("check")
(folder.path / "data").write_bytes(b"much")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def owned_elsewhere() -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    return owner, Path(owner.stdout.readline().strip())


def end(owner: subprocess.Popen[str]) -> None:
    owner.send_signal(signal.SIGKILL)
    owner.communicate()


def test_a_folder_goes_with_its_block() -> None:
    with ScratchFolder("check") as folder:
        assert folder.name.startswith(f"{PREFIX}check-")
        (folder / "inside").mkdir()
    assert not folder.exists()


def interrupted(at: int) -> bool:
    """Make a folder and leave it; whether there was a call of that number to interrupt."""
    calls = count()

    def interrupt(frame: FrameType, event: str, argument: object) -> None:
        if next(calls) == at:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        with ScratchFolder("check"):
            sys.setprofile(None)
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def test_an_interrupt_at_any_call_of_its_making_leaves_no_folder(tmp_path: Path) -> None:
    ScratchFolder("check").close()  # the first one also looks for those of others
    left = {}
    for at in count():
        if not interrupted(at):
            break
        left[at] = [*tmp_path.iterdir()]

    assert len(left) > 20
    assert {at: folders for at, folders in left.items() if folders} == {}


def test_that_of_a_living_lab_stays_and_that_of_a_killed_one_goes(tmp_path: Path) -> None:
    (living, its), (killed, left) = owned_elsewhere(), owned_elsewhere()
    end(killed)
    try:
        with ScratchFolder("mine") as mine:
            clear_abandoned(str(tmp_path))
            assert sorted(tmp_path.iterdir()) == sorted([its, mine])
            assert (its / "data").read_bytes() == b"much"
        assert not left.exists()
    finally:
        end(living)


def test_what_has_no_mark_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "tidemark-old").mkdir()
    (tmp_path / "tidemark-file").write_bytes(b"")
    (tmp_path / "tidemark-linked").mkdir()
    (tmp_path / "tidemark-linked" / MARK).symlink_to(tmp_path / "tidemark-file")
    (tmp_path / "tidemark-way").symlink_to(tmp_path / "others", target_is_directory=True)
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / MARK).write_bytes(b"")
    (tmp_path / "tidemark-pipe").mkdir()
    os.mkfifo(tmp_path / "tidemark-pipe" / MARK)
    before = sorted(tmp_path.rglob("*"))

    assert clear_abandoned(str(tmp_path)) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_the_next_command_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    owner, left = owned_elsewhere()
    end(owner)
    assert left.exists()
    (tmp_path / "h.edn").write_text("{:process 0, :type :invoke, :f :write, :value 1}\n")
    subprocess.run(
        [sys.executable, "-m", "harness.cli", "check", str(tmp_path / "h.edn")],
        check=False,
        capture_output=True,
    )
    assert [path.name for path in tmp_path.iterdir()] == ["h.edn"]
