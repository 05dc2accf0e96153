"""Somebody else's program as the system under test: well-behaved, and everything but."""

from __future__ import annotations

import os
import re
import resource
import select
import stat
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from recording import Recording, read_shard

from conformance.driver import Driver
from conformance.register import open_register
from harness.deployments.control_program import Deadlines
from harness.deployments.external import external_deployment
from harness.history import Run
from harness.sut import (
    AdapterError,
    CannotConnect,
    LabError,
    ProtocolBreach,
    Sut,
    UsageError,
    read_sut,
)
from harness.sut.protocol import SCHEMA_FILE
from harness.workloads import BoundarySteps, generate, parse

pytestmark = pytest.mark.process

EXAMPLE = re.search(r"```python\n(.*?)```", SCHEMA_FILE.with_name("README.md").read_text(), re.S)[1]
READY = 'print(json.dumps({"ready": True}), flush=True)\n'
HEAD = "import json, os, signal, sys, time\n"
QUICK = Deadlines(ready_s=1.0, answer_s=0.5)


@contextmanager
def opened(run: Run, sut: Sut, deadlines: Deadlines | None = None) -> Iterator[Driver]:
    """The register of a system behind the hook."""
    with (
        external_deployment(run, sut, brokers=False, deadlines=deadlines) as system,
        Driver(system) as register,
    ):
        yield register


@pytest.fixture
def system(tmp_path: Path) -> Callable[[str], Sut]:
    """A SUT file whose control plane is this Python text."""

    def write(source: str) -> Sut:
        program = tmp_path / "heron-control"
        program.write_text(f"#!{sys.executable}\n{source}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        sut = tmp_path / "sut.toml"
        sut.write_text(
            '[sut]\nname = "heron"\nversion = "1"\nprofiles = ["migration"]\n'
            '[hooks]\ncontrol_plane = "exec:./heron-control"\n'
        )
        return read_sut(sut)

    return write


System = Callable[[str], Sut]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", run="1", sut="heron", world="external")


def recorded(run: Run) -> Recording:
    shard = run.folder / "shards" / "external-0.jsonl"
    return Recording(shard=shard, lines=read_shard(shard))


def failing(run: Run, sut: Sut, script: str = "a call create") -> LabError:
    """Play, expect the program's fault, and check that nothing of it is left."""
    began = time.monotonic()
    with pytest.raises(AdapterError) as refused, opened(run, sut, QUICK) as register:
        register.play(parse(script, BoundarySteps))
    assert time.monotonic() - began < 20
    assert not running(sut)
    assert not run.seal().complete
    return refused.value


def running(sut: Sut) -> list[str]:
    """Programs of this system that are still there: by command, folder, and not a zombie."""
    return [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and b"./heron-control" in _read(entry / "cmdline")
        and _read(entry / "stat").rpartition(b")")[2].split()[:1] != [b"Z"]
        and _folder_of(entry) == str(sut.folder)
    ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _folder_of(entry: Path) -> str:
    try:
        return os.readlink(entry / "cwd")
    except OSError:
        return ""


def test_the_example_of_the_page_can_be_driven(system: System, run: Run) -> None:
    sut = system(EXAMPLE)
    script = """
        old  call   create
        old  call   initialize b0=100 epoch=5 seeds=A
        new  call   register epoch=6
        old  call   initialize b0=100 epoch=5 seeds=A
        new  call   initialize b0=200 epoch=6
        new  call   get
    """
    with opened(run, sut) as register:
        register.play(parse(script, BoundarySteps))
    assert recorded(run).endings == [
        "1 create ok NONE",
        "1 initialize ok NONE",
        "2 register ok NONE",
        "1 initialize fail FENCED_LEADER_EPOCH",
        "2 initialize fail BOUNDARY_MISMATCH",
        "2 get ok NONE",
    ]
    assert recorded(run).stored(-1) == {"boundary": 100, "epoch": 6, "reset_epoch": -1}
    assert run.seal().complete
    assert not running(sut)


def test_the_reference_can_be_driven_through_the_same_hook(tmp_path: Path, run: Run) -> None:
    root = Path(__file__).parents[2]
    (tmp_path / "sut.toml").write_text(
        '[sut]\nname = "memory"\nversion = "1"\nprofiles = ["migration"]\n[hooks]\n'
        f'control_plane = "exec:env PYTHONPATH={root} {sys.executable} -m reference_impl'
        ' control-plane --dsn memory:"\n'
    )
    with open_register(
        "external", run=run, sut=read_sut(tmp_path / "sut.toml"), seed=1
    ) as register:
        steps = generate(1, clients=1, operations=60, verbs=register.supports - {"kill", "lose"})
        register.play(steps)
    assert run.seal().complete
    assert len(recorded(run).endings) > 60


def test_what_the_lab_cannot_do_there_is_said_up_front(system: System, run: Run) -> None:
    with opened(run, system(EXAMPLE)) as register:
        assert register.supports == {"call", "begin", "end", "kill", "pause", "resume", "lose"}
        with pytest.raises(UsageError, match="a can: begin, call"):
            register.play(parse("a call create\na hold get\na release", BoundarySteps))
    assert recorded(run).lines == []


def test_a_system_without_the_hook_cannot_be_driven(run: Run) -> None:
    sut = Sut(name="heron", version="1", profiles=("migration",))
    with (
        pytest.raises(UsageError, match="of heron cannot be asked: it has no hook control_plane"),
        open_register("external", run=run, sut=sut, seed=1),
    ):
        pass


def test_begun_operations_overlap(system: System, run: Run) -> None:
    with opened(run, system(EXAMPLE)) as register:
        register.play(parse("a call create\na begin get\nb begin get\na end\nb end", BoundarySteps))
    story = recorded(run).story
    assert sorted(story[2:]) == ["1 get ?", "1 get ok NONE", "2 get ?", "2 get ok NONE"]


def slow_after_create(source: str = EXAMPLE) -> str:
    return source.replace(
        "    ask = json.loads(line)\n",
        "    ask = json.loads(line)\n"
        "    if ask['f'] == 'commit_batch':\n        import time; time.sleep(30)\n",
    )


def test_a_kill_leaves_the_outcome_unknown_and_the_next_call_starts_afresh(
    system: System, run: Run
) -> None:
    with opened(run, system(slow_after_create())) as register:
        register.play(parse("a call create\na begin commit\na kill\na call get", BoundarySteps))
    assert recorded(run).endings[1:] == ["1 commit info None", "1 get ok NONE"]
    assert recorded(run).evidence("kill")["processes_ended"] == 1


def test_losing_a_reply_kills_the_program_with_the_question_in_hand(
    system: System, run: Run
) -> None:
    with opened(run, system(slow_after_create())) as register:
        register.play(parse("a call create\na lose commit\na call get", BoundarySteps))
    assert recorded(run).endings[1:] == ["1 commit info None", "1 get ok NONE"]
    assert recorded(run).evidence("lose-reply") == {"replies_dropped": 1}


def test_a_paused_program_answers_only_after_it_was_resumed(system: System, run: Run) -> None:
    with opened(run, system(EXAMPLE)) as register:
        register.play(
            parse("a call create\na pause\na begin get\nb call get\na resume\na end", BoundarySteps)
        )
    assert recorded(run).endings[1:] == ["2 get ok NONE", "1 get ok NONE"]
    assert recorded(run).evidence("pause")["threads_stopped"] >= 1


def test_silence_after_earlier_answers_is_an_unknown_outcome(system: System, run: Run) -> None:
    sut = system(slow_after_create())
    with opened(run, sut, Deadlines(answer_s=0.3)) as register:
        register.play(parse("a call create\na call commit\na call get", BoundarySteps))
        assert register.unanswered == 1
    assert recorded(run).endings[1:] == ["1 commit info None", "1 get ok NONE"]
    assert run.seal().complete


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ("print('Welcome to heron!', flush=True)\n", ProtocolBreach, "Welcome to heron!"),
        (HEAD + "sys.exit('no licence')\n", CannotConnect, "its error output ends: no licence"),
        (HEAD + "time.sleep(60)\n", CannotConnect, "printed no ready line within 1 s"),
        (HEAD + READY + "time.sleep(60)\n", AdapterError, "has never answered anything"),
        (HEAD + READY + "sys.stdin.readline()\n", AdapterError, "ended by itself"),
        (HEAD + READY + "sys.exit(3)\n", AdapterError, "ended by itself"),
        (
            HEAD + READY + "sys.stdin.readline(); print('ok', flush=True); time.sleep(60)\n",
            ProtocolBreach,
            "something that is not a JSON object",
        ),
        (
            HEAD + READY + "sys.stdin.readline()\n"
            'print(json.dumps({"id": 99, "error": "NONE"}), flush=True); time.sleep(60)\n',
            ProtocolBreach,
            'want: "id": 1',
        ),
        (
            HEAD + READY + "sys.stdin.readline()\nwhile True: os.write(1, b'x' * 65536)\n",
            ProtocolBreach,
            "more than 1048576 bytes without a line end",
        ),
        (
            HEAD + READY + "sys.stdin.readline()\n"
            "os.write(1, b'{\"id\": \"'); [os.write(1, b'y' * 1000000) for _ in range(100)]\n"
            "print('\"}', flush=True); time.sleep(60)\n",
            ProtocolBreach,
            "more than 1048576 bytes without a line end",
        ),
        (
            HEAD + READY + "while True: os.write(1, b'{\"id\": 1}\\n' * 5000)\n",
            ProtocolBreach,
            "exec:./heron-control (for client-a)",
        ),
        (
            HEAD + READY + "sys.stdin.readline()\nwhile True: os.write(2, b'complaint ' * 5000)\n",
            AdapterError,
            "has never answered anything",
        ),
        (
            HEAD + READY + "os.close(1); time.sleep(60)\n",
            AdapterError,
            "ended by itself",
        ),
    ],
    ids=[
        "greets",
        "exits at once",
        "is never ready",
        "never answers",
        "exits when asked",
        "exits when ready",
        "answers garbage",
        "answers another question",
        "never ends its line",
        "prints a line of 100 MB",
        "floods with lines",
        "floods its error output",
        "closes its output",
    ],
)
def test_a_program_that_misbehaves_is_a_clear_error(
    system: System, run: Run, source: str, kind: type[LabError], said: str
) -> None:
    error = failing(run, system(source))
    assert type(error) is kind
    assert said in str(error)
    assert "exec:./heron-control" in str(error)
    assert len(str(error)) < 1500


def test_a_flood_does_not_fill_the_labs_memory(system: System, run: Run) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failing(run, system(HEAD + READY + "while True: os.write(1, b'x' * 1000000)\n"))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_missing_program_cannot_be_connected_to(system: System, run: Run) -> None:
    sut = system(EXAMPLE)
    (sut.folder / "heron-control").unlink()
    error = failing(run, sut)
    assert type(error) is CannotConnect
    assert "cannot be started" in str(error)


def test_an_answer_too_many_is_noticed_at_the_next_call(system: System, run: Run) -> None:
    source = (
        HEAD
        + READY
        + textwrap.dedent(
            """
        for line in sys.stdin:
            ask = json.loads(line)
            state = {"boundary": -1, "epoch": -1, "reset_epoch": -1}
            for _ in range(2):
                print(json.dumps({"id": ask["id"], "error": "NONE", **state}), flush=True)
        """
        )
    )
    error = failing(run, system(source), "a call create\nb call create\na call get\na call get")
    assert "spoke without being asked" in str(error)


def test_a_program_that_ignores_every_polite_word_is_gone_after_closing(
    system: System, run: Run
) -> None:
    stubborn = (
        EXAMPLE.replace(
            "print(json.dumps({",
            "import os, signal, time\n"
            "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
            "    signal.signal(number, signal.SIG_IGN)\n"
            "print(json.dumps({",
            1,
        )
        + "while True: time.sleep(1)\n"
    )
    sut = system(stubborn)
    with opened(run, sut) as register:
        register.play(parse("a call create\nb call create\nb pause", BoundarySteps))
    assert not running(sut)


def test_children_of_a_program_go_with_it_and_runaways_do_not_block_the_lab(
    system: System, run: Run
) -> None:
    family = EXAMPLE.replace(
        "print(json.dumps({",
        "import os, pathlib, time\n"
        "def child(name, act):\n"
        "    if (pid := os.fork()) == 0:\n"
        "        act(); time.sleep(60); os._exit(0)\n"
        "    pathlib.Path(name).write_text(str(pid))\n"
        "child('obedient', lambda: None)\n"
        "child('runaway', os.setsid)  # and keeps the output open\n"
        "print(json.dumps({",
        1,
    )
    sut = system(family)
    began = time.monotonic()
    with opened(run, sut) as register:
        register.play(parse("a call create\na begin get\na kill", BoundarySteps))
    assert time.monotonic() - began < 20
    obedient, runaway = (int((sut.folder / n).read_text()) for n in ("obedient", "runaway"))
    os.kill(runaway, 9)  # in a session of its own it is beyond the lab's reach, not beyond ours
    _gone(obedient)
    _gone(runaway)


def _gone(pid: int) -> None:
    """Wait for a process that is not our child to end."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([handle], [], [], 20)
    os.close(handle)
    assert ended


def test_what_was_recorded_before_the_program_failed_is_kept(system: System, run: Run) -> None:
    source = EXAMPLE.replace(
        "    ask = json.loads(line)\n",
        "    ask = json.loads(line)\n    if ask['f'] == 'commit_batch': sys.exit('out of paper')\n",
    )
    error = failing(run, system(source), "a call create\na call get\na call commit")
    assert "out of paper" in str(error)
    assert recorded(run).endings == ["1 create ok NONE", "1 get ok NONE", "1 commit info None"]
