"""When an environment is usable, and what a lock says."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.launcher.environment import (
    Environment,
    base_python,
    installed_text,
    read_lock,
    setup_only,
)

ROOT = Path(__file__).resolve().parents[2]
LOCK = """\
# a comment with a command==1 in it
allure-pytest==2.16.2 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via tidemark (pyproject.toml)
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:cc
numpy==2.5.4 ; python_full_version >= '3.12' \\
    --hash=sha256:dd
pip==26.3 \\
    --hash=sha256:ee
psycopg[binary]==3.3.8 \\
    --hash=sha256:ff
pyspark==4.3.0 \\
    --hash=sha256:01
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A finished environment."""
    (tmp_path / "requirements.lock").write_text(LOCK)
    made = Environment.at(tmp_path)
    made.python.parent.mkdir(parents=True)
    made.python.symlink_to(made.base_python)
    made.stamp_file.write_text(json.dumps(made.stamp()))
    return made


def remove_stamp(environment: Environment) -> None:
    environment.stamp_file.unlink()


def damage_stamp(environment: Environment) -> None:
    environment.stamp_file.write_text(environment.stamp_file.read_text()[:20])


def change_lock(environment: Environment) -> None:
    (environment.root / "requirements.lock").write_text(LOCK + "rich==15.0\n")


def lose_interpreter(environment: Environment) -> None:
    environment.python.unlink()
    environment.python.symlink_to(environment.root / "gone")


def move_clone(environment: Environment) -> None:
    rewrite_stamp(environment, root="/elsewhere")


def move_clone_and_change_lock(environment: Environment) -> None:
    move_clone(environment)
    change_lock(environment)


def come_from_an_older_launcher(environment: Environment) -> None:
    rewrite_stamp(environment, layout=0)


def upgrade_python_in_place(environment: Environment) -> None:
    rewrite_stamp(environment, version="3.10")


def rewrite_stamp(environment: Environment, **changes: object) -> None:
    environment.stamp_file.write_text(json.dumps(environment.stamp() | changes))


@pytest.mark.parametrize(
    ("happens", "state"),
    [
        (lambda environment: None, "ready"),
        (change_lock, "outdated"),
        (remove_stamp, "unusable"),
        (damage_stamp, "unusable"),
        (lose_interpreter, "unusable"),
        (move_clone, "unusable"),
        (move_clone_and_change_lock, "unusable"),
        (come_from_an_older_launcher, "unusable"),
        (upgrade_python_in_place, "unusable"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_the_stamp_decides_whether_an_environment_is_used(
    environment: Environment, happens: Callable[[Environment], None], state: str
):
    happens(environment)

    assert environment.state() == state


def test_an_environment_made_by_another_python_is_used_while_that_exists(environment: Environment):
    started_by_another = replace(environment, base_python="/opt/python3.13", version="3.13")

    assert started_by_another.state() == "ready"


def test_another_python_does_not_mend_an_outdated_environment_in_place(environment: Environment):
    change_lock(environment)
    started_by_another = replace(environment, base_python="/opt/python3.13", version="3.13")

    assert started_by_another.state() == "unusable"


def test_an_environment_whose_python_was_uninstalled_is_unusable(environment: Environment):
    python = environment.root / "python3.12"
    python.touch()
    environment.python.unlink()
    environment.python.symlink_to(python)
    rewrite_stamp(environment, python=str(python), version="3.12")
    assert environment.state() == "ready"

    python.unlink()

    assert environment.state() == "unusable"


def test_the_base_python_is_not_inside_an_environment():
    base = Path(base_python())

    assert os.path.realpath(base) == str(base)
    assert not (base.parent.parent / "pyvenv.cfg").exists()


def test_a_lock_is_read_entry_by_entry():
    entries = read_lock(LOCK)

    assert [(entry.name, entry.version, entry.marked) for entry in entries] == [
        ("allure-pytest", "2.16.2", False),
        ("numpy", "2.4.6", True),
        ("numpy", "2.5.4", True),
        ("pip", "26.3", False),
        ("psycopg", "3.3.8", False),
        ("pyspark", "4.3.0", False),
    ]


def test_an_entry_keeps_its_marker_and_all_its_hashes():
    numpy = read_lock(LOCK)[1]

    assert numpy.text == "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:cc\n"


def test_spark_is_installed_from_its_wheel_and_the_launchers_tools_not_at_all():
    text = installed_text(
        read_lock(LOCK), frozenset({"pip"}), "pyspark @ file:///w --hash=sha256:9"
    )

    assert [line.split("==")[0] for line in text.splitlines() if "==" in line] == [
        "allure-pytest",
        "numpy",
        "numpy",
        "psycopg[binary]",
    ]
    assert text.endswith("\npyspark @ file:///w --hash=sha256:9\n")


def test_the_projects_lock_has_a_hash_for_every_entry_and_no_address():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")

    assert [entry.name for entry in read_lock(text) if "--hash=sha256:" not in entry.text] == []
    assert "://" not in text


def test_the_launchers_tools_are_locked_too():
    locked = {entry.name for entry in read_lock((ROOT / "requirements.lock").read_text())}

    assert {"pip", "setuptools", "uv"} == setup_only(ROOT)
    assert setup_only(ROOT) <= locked
