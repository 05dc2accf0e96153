"""The order of a set-up, and every way out of it. No installer runs here."""

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.launcher import build, cache
from harness.launcher.build import Installer, set_up
from harness.launcher.cache import Cache
from harness.launcher.environment import Environment, read_lock
from harness.launcher.tools import Tools, Trouble

ROOT = Path(__file__).resolve().parents[2]
Command = Sequence[str]


class Bench:
    """A clone, an empty cache but for Spark's wheel, and tools that only pretend."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "clone"
        self.root.mkdir()
        for name in ("requirements.lock", "pyproject.toml"):
            shutil.copy(ROOT / name, self.root)
        self.environment = Environment.at(self.root)
        self.commands: list[Command] = []
        self.fails: Callable[[Command], str] = lambda command: ""

    def attempt(self, tools: Tools, title: str, command: Command, **environ: str) -> str:
        assert not self.environment.stamp_file.exists(), f"{title} ran under a stamp"
        self.commands.append(command)
        words = self.fails(command)
        if not words and "venv" in command:
            python = Path(command[-1], "bin", "python")
            python.parent.mkdir(parents=True)
            python.symlink_to(self.environment.base_python)
            site = f"lib/python{self.environment.version}/site-packages"
            Path(command[-1], site).mkdir(parents=True)
        return words


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)
    spark = next(
        one for one in read_lock((ROOT / "requirements.lock").read_text()) if one.name == "pyspark"
    )
    wheels = tmp_path / "cache" / "tidemark" / "wheels"
    folder = wheels / f"pyspark-{spark.version}-{cache.short_hash(spark.text)}"
    folder.mkdir(parents=True)
    (folder / "pyspark-4-py3-none-any.whl").touch()
    (folder / "sha256").write_text("5eed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Tools, "attempt", lambda *words, **environ: made.attempt(*words, **environ))
    monkeypatch.setattr(build, "usable_uv", lambda: "uv")
    monkeypatch.setattr(build, "offer_java", lambda attempt, may_install: None)
    monkeypatch.setattr(build.signal, "signal", lambda number, handler: None)
    return made


def test_a_first_use_makes_an_environment_and_stamps_it_last(bench: Bench):
    assert set_up(bench.environment) == 0

    assert bench.environment.state() == "ready"
    assert [command[:3] for command in bench.commands] == [
        [bench.environment.base_python, "-m", "venv"],
        ["uv", "pip", "sync"],
    ]


def test_spark_is_taken_from_the_machines_wheel(bench: Bench):
    set_up(bench.environment)

    last = (bench.root / ".tidemark" / "environment.txt").read_text().splitlines()[-1]
    assert last.startswith("pyspark @ file:///")
    assert last.endswith("pyspark-4-py3-none-any.whl --hash=sha256:5eed")


def test_what_is_at_hand_is_installed_without_asking_the_index(bench: Bench):
    set_up(bench.environment)

    assert "--offline" in bench.commands[-1]


def test_the_index_is_asked_for_what_is_not_at_hand(bench: Bench):
    bench.fails = lambda command: "not in the cache" if "--offline" in command else ""

    assert set_up(bench.environment) == 0
    assert "--offline" not in bench.commands[-1]


def test_a_failed_install_leaves_no_stamp(bench: Bench, capsys: pytest.CaptureFixture[str]):
    bench.fails = lambda command: "dns error" if "sync" in command else ""

    assert set_up(bench.environment) == 3
    assert bench.environment.state() == "unusable"
    assert "Start again with a network" in capsys.readouterr().err


def test_an_interrupted_install_is_one_line_and_exit_130(
    bench: Bench, capsys: pytest.CaptureFixture[str]
):
    def interrupt(command: Command) -> str:
        raise KeyboardInterrupt

    bench.fails = interrupt

    assert set_up(bench.environment) == 130
    assert bench.environment.state() == "unusable"
    assert capsys.readouterr().err.splitlines()[-1].startswith("tidemark: stopped; ")


def test_what_an_interrupted_install_left_is_removed(bench: Bench):
    half_written = bench.environment.site_packages / "rich"
    half_written.mkdir(parents=True)

    assert set_up(bench.environment) == 0
    assert not half_written.exists()


def test_a_changed_lock_is_followed_in_place(bench: Bench):
    set_up(bench.environment)
    kept = bench.environment.site_packages / "rich"
    kept.mkdir()
    with (bench.root / "requirements.lock").open("a") as lock:
        lock.write("# another lock\n")
    bench.commands.clear()

    assert set_up(bench.environment) == 0
    assert kept.exists()
    assert [command[1:3] for command in bench.commands] == [["pip", "sync"]]
    assert bench.environment.state() == "ready"


def test_a_start_that_waited_for_another_makes_nothing_again(bench: Bench):
    set_up(bench.environment)
    bench.commands.clear()

    assert set_up(bench.environment) == 0
    assert bench.commands == []


def test_the_project_is_importable_from_any_folder(bench: Bench):
    set_up(bench.environment)

    path_file = bench.environment.site_packages / "tidemark.pth"
    assert path_file.read_text() == f"{bench.root}\n"


def test_the_console_script_starts_the_command_line(bench: Bench):
    set_up(bench.environment)

    script = bench.environment.folder / "bin" / "tidemark"
    assert script.stat().st_mode & 0o111
    assert f'exec {bench.environment.python} -P -m harness.cli "$@"' in script.read_text()


def test_without_uv_on_path_the_locked_one_is_fetched(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(build, "usable_uv", lambda: None)

    assert set_up(bench.environment) == 0
    fetch = next(command for command in bench.commands if "install" in command)
    names = {one.name for one in read_lock(Path(fetch[-1]).read_text())}
    assert "--require-hashes" in fetch
    assert names == {"pip", "setuptools", "uv"}


def test_where_uv_is_not_to_be_had_pip_installs(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build, "usable_uv", lambda: None)
    wants_uv = "--require-hashes"
    bench.fails = lambda command: (
        "no uv for this platform"
        if wants_uv in command and "uv==" in Path(command[-1]).read_text()
        else ""
    )

    assert set_up(bench.environment) == 0
    assert bench.commands[-1][1:4] == ["-m", "pip", "--python"]


def test_neither_uv_nor_pip_is_a_sentence_and_exit_64(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(build, "usable_uv", lambda: None)
    monkeypatch.setattr(cache.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cache, "apt_may_install", lambda: False)

    assert set_up(bench.environment) == 64
    assert "Install uv, or pip" in capsys.readouterr().err


def test_every_installer_checks_hashes():
    for installer in (Installer(uv="uv"), Installer(uv=None, pip_python=Path("tools/python"))):
        assert "--require-hashes" in installer.command(Path("python"), Path("environment.txt"))


def test_a_wheel_that_could_not_be_built_leaves_nothing_behind(tmp_path: Path, monkeypatch):
    tools = Tools(tmp_path / "log")
    monkeypatch.setattr(tools, "attempt", lambda title, command, **environ: "No space left")
    monkeypatch.setattr(cache, "check_room", lambda folder, gigabytes: None)
    shared = Cache(tmp_path / "cache", tools, sys.executable)
    monkeypatch.setattr(shared, "own_tools", lambda wanted, uv: Path(sys.executable))
    source = read_lock("pyspark==4.3.0 \\\n    --hash=sha256:01\n")[0]

    with pytest.raises(Trouble, match="the disk is full"):
        shared.wheel(source, [], None)

    assert list((tmp_path / "cache" / "wheels").iterdir()) == []
