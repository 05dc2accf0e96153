"""The script at the root: which Python it accepts, when it hands over, what it never does."""

import ast
import json
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from harness.launcher.environment import Environment

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tidemark"
AS_PYTHON_3_8 = """
import runpy, sys
sys.version_info = (3, 8, 0, "final", 0)
sys.argv = [sys.argv[1], *sys.argv[2:]]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def load(path: Path) -> ModuleType:
    loader = SourceFileLoader("tidemark_script", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def start_under_python_3_8(path_folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", AS_PYTHON_3_8, str(SCRIPT), *arguments],
        env={"PATH": str(path_folder)},
        capture_output=True,
        text=True,
    )


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose environment is ready, as far as the launcher can see."""
    root = tmp_path / "clone"
    root.mkdir()
    (root / "tidemark").write_bytes(SCRIPT.read_bytes())
    (root / "harness").symlink_to(ROOT / "harness")
    (root / "requirements.lock").write_text("rich==1.0 --hash=sha256:00\n")
    environment = Environment.at(root)
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(environment.base_python)
    environment.stamp_file.write_text(json.dumps(environment.stamp()))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return root


def test_an_old_python_can_parse_the_script():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_the_script_is_executable():
    assert os.access(SCRIPT, os.X_OK)


def test_an_old_python_alone_is_refused_with_a_sentence(tmp_path: Path):
    refused = start_under_python_3_8(tmp_path, "doctor")

    assert refused.returncode == 64
    assert refused.stderr.startswith("tidemark: Python 3.11 or newer is needed; this is Python 3.8")
    assert refused.stderr.count("\n") == 1


def test_an_old_python_hands_over_to_a_newer_one_on_path(tmp_path: Path):
    program(tmp_path / "python3.12", '[ "$1" = -c ] && exit 0; echo "$@"')

    handed_over = start_under_python_3_8(tmp_path, "doctor", "--json")

    assert handed_over.stdout.split() == [str(SCRIPT), "doctor", "--json"]


def test_a_shim_with_nothing_behind_it_is_no_newer_python(tmp_path: Path):
    program(tmp_path / "python3.13", "exit 127")

    assert start_under_python_3_8(tmp_path).returncode == 64


def test_a_ready_environment_is_entered_at_once(clone: Path, monkeypatch: pytest.MonkeyPatch):
    script = load(clone / "tidemark")
    monkeypatch.setattr(sys, "argv", ["tidemark", "check", "run 7"])
    entered: list[tuple[str, list[str], str]] = []
    monkeypatch.setattr(
        os,
        "execve",
        lambda path, command, told: entered.append((path, command, told["TIDEMARK_CALLED_AS"])),
    )

    script.main()

    python = str(clone / ".venv" / "bin" / "python")
    command = [python, "-P", "-m", "harness.cli", "check", "run 7"]
    assert entered == [(python, command, "tidemark")]
    assert "TIDEMARK_CALLED_AS" not in os.environ


def test_a_failed_set_up_ends_with_its_exit_code(clone: Path, monkeypatch: pytest.MonkeyPatch):
    (clone / ".venv" / "tidemark-stamp.json").unlink()
    monkeypatch.setattr("harness.launcher.build.set_up", lambda environment: 3)
    monkeypatch.setattr(os, "execve", lambda *command: pytest.fail("entered all the same"))

    assert load(clone / "tidemark").main() == 3


def test_help_imports_no_heavy_package():
    heavy = "{'duckdb', 'hypothesis', 'pandas', 'psycopg', 'pyarrow', 'pyspark', 'pytest'}"
    code = f"import sys, harness.cli.app; print(sorted({heavy} & set(sys.modules)))"

    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert answer.stdout == "[]\n", answer.stderr


def test_an_unknown_command_is_a_sentence_and_exit_64():
    answer = subprocess.run(
        [sys.executable, "-m", "harness.cli", "nonsense"], cwd=ROOT, capture_output=True, text=True
    )

    assert answer.returncode == 64
    assert answer.stderr.splitlines()[0] == "tidemark: No such command 'nonsense'."
    assert "Traceback" not in answer.stderr
