"""What `doctor` says, and when it says that the machine will not do."""

import json
from pathlib import Path

import pytest

from harness.cli import doctor
from harness.cli.doctor import Row, State, differing_packages, exit_code, render
from harness.launcher.environment import read_lock
from harness.processes.java import Java

PYTHON = Row(what="Python", state=State.OK, found="3.11.7", cost="everything", required=True)
GO = Row(what="Go", state=State.MISSING, found="no `go` on PATH", cost="the bench")
LOOPBACK = Row(
    what="loopback ports", state=State.BROKEN, found="refused", cost="most worlds", required=True
)


def test_missing_conveniences_leave_the_machine_usable():
    assert exit_code([PYTHON, GO]) == 0


def test_a_broken_necessity_is_exit_3():
    assert exit_code([PYTHON, GO, LOOPBACK]) == 3


def test_every_missing_thing_is_shown_with_its_cost():
    assert render([PYTHON, GO]).splitlines() == [
        "ok       Python  3.11.7",
        "missing  Go      no `go` on PATH",
        "                 costs: the bench",
        "USABLE  without: Go",
    ]


def test_the_last_line_names_what_is_required_and_broken():
    assert render([PYTHON, GO, LOOPBACK]).splitlines()[-1] == "NOT USABLE  required: loopback ports"


def test_a_machine_with_everything_says_so():
    assert render([PYTHON]).splitlines()[-1] == "USABLE  everything is there"


def test_json_alone_goes_to_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(doctor, "LOOKS", (lambda: PYTHON, lambda: LOOPBACK))

    assert doctor.run(as_json=True) == 3
    said = json.loads(capsys.readouterr().out)
    assert said["usable"] is False
    assert said["rows"][1] == {
        "what": "loopback ports",
        "state": "broken",
        "found": "refused",
        "cost": "most worlds",
        "required": True,
    }


def test_every_row_says_what_was_found_and_what_its_absence_costs():
    rows = [look() for look in doctor.LOOKS]

    assert [row.what for row in rows if not row.found or not row.cost] == []
    assert len({row.what for row in rows}) == len(rows)


LOCK = read_lock("""\
rich==15.0.0 \\
    --hash=sha256:aa
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:bb
numpy==2.5.4 ; python_full_version >= '3.12' \\
    --hash=sha256:cc
""")


@pytest.mark.parametrize(
    ("installed", "wrong"),
    [
        ({"rich": "15.0.0", "numpy": "2.5.4"}, []),
        ({"rich": "14.1.0", "numpy": "2.5.4"}, ["rich 14.1.0 (locked 15.0.0)"]),
        ({"numpy": "2.4.6"}, ["rich absent (locked 15.0.0)"]),
        ({"rich": "15.0.0"}, []),
        ({"rich": "15.0.0", "numpy": "1.0"}, ["numpy 1.0 (locked 2.4.6)"]),
    ],
    ids=[
        "as locked",
        "another version",
        "absent",
        "marked for another platform",
        "neither version",
    ],
)
def test_installed_packages_are_held_to_the_lock(installed: dict[str, str], wrong: list[str]):
    assert differing_packages(LOCK, installed.get) == wrong


def test_an_environment_that_differs_from_the_lock_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "pyproject.toml").write_text('[dependency-groups]\nsetup = ["uv>=1"]\n')
    (tmp_path / "requirements.lock").write_text("rich==99.0 \\\n    --hash=sha256:aa\n")

    row = doctor.look_at_environment(tmp_path)

    assert row.state is State.BROKEN
    assert row.required
    assert "rich" in row.found


def test_code_without_its_lock_is_broken(tmp_path: Path):
    assert doctor.look_at_environment(tmp_path).state is State.BROKEN


def test_a_missing_java_costs_spark_and_names_the_way_without(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "find_java", lambda: None)
    monkeypatch.setattr(doctor, "missing_sentence", lambda: "No Java.")

    row = doctor.look_at_java()

    assert (row.state, row.required) == (State.MISSING, False)
    assert "--engine inline" in row.cost


def test_a_java_is_shown_with_its_place(monkeypatch: pytest.MonkeyPatch):
    java = Java(home=Path("/opt/jdk"), major=21, found_by="PATH")
    monkeypatch.setattr(doctor, "find_java", lambda: java)

    assert doctor.look_at_java().found.startswith("21 at /opt/jdk (by PATH")


def test_a_tool_that_is_not_on_path_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)

    assert doctor.look_at_git().state is State.MISSING
    assert doctor.look_at_docker_engine().found == "no `docker` on PATH"


def test_a_tool_that_does_not_do_its_work_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho Cannot connect to the engine >&2\nexit 1\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    row = doctor.look_at_docker_engine()

    assert (row.state, row.found) == (State.BROKEN, "Cannot connect to the engine")


def test_a_blocked_loopback_is_broken_and_required(monkeypatch: pytest.MonkeyPatch):
    def refuse(address: object) -> None:
        raise OSError("not permitted")

    monkeypatch.setattr(doctor.socket, "create_server", refuse)

    row = doctor.look_at_loopback()

    assert (row.state, row.required) == (State.BROKEN, True)
    assert "not permitted" in row.found


def test_an_absent_database_wheel_is_required(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)

    row = doctor.look_at_postgres()

    assert (row.state, row.required) == (State.MISSING, True)


def test_available_memory_is_what_the_kernel_would_give(tmp_path: Path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000000 kB\nMemAvailable:    5000000 kB\n")

    assert doctor.available_memory_gb(meminfo) == pytest.approx(5.12)


def test_what_cuts_links_between_containers_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 1000)
    assert doctor.look_at_docker_cuts().found.startswith("iptables, inside each container")

    monkeypatch.setattr(doctor.os, "geteuid", lambda: 0)
    assert doctor.look_at_docker_cuts().found == "nsenter and iptables, as root"

    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert doctor.look_at_docker_cuts().state is State.MISSING
