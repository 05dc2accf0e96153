"""Running installers, waiting for each other, and what failures mean."""

import errno
import fcntl
import os
import sys
from pathlib import Path

import pytest

from harness.launcher import cache, system, tools
from harness.launcher.build import os_sentence
from harness.launcher.tools import Tools, Trouble, explain, locked, tool_environ


def test_a_second_start_says_that_it_waits_and_then_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "setup.lock"
    first = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(first, fcntl.LOCK_EX)
    said: list[str] = []

    def say_and_let_the_first_finish(text: str) -> None:
        said.append(text)
        os.close(first)

    monkeypatch.setattr(tools, "say", say_and_let_the_first_finish)

    with locked(path, "the environment"):
        pass

    assert said == ["another start is making the environment; waiting for it"]


def test_a_tool_inherits_the_lock_and_so_outlives_a_killed_launcher_safely(tmp_path: Path):
    path = tmp_path / "setup.lock"
    still_open = "import os, sys; sys.exit(sys.argv[1] not in os.listdir('/dev/fd'))"

    with locked(path, "the environment"):
        descriptor = str(tools._held[-1])
        words = Tools(tmp_path / "log").attempt(
            "look", [sys.executable, "-c", still_open, descriptor]
        )

    assert words == ""


def test_a_lock_is_free_again_after_trouble(tmp_path: Path):
    path = tmp_path / "setup.lock"
    with pytest.raises(Trouble), locked(path, "the environment"):
        raise Trouble("no")

    with path.open() as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_tools_words_are_kept_in_the_log(tmp_path: Path):
    Tools(tmp_path / "log").run("speaking", ["echo", "two words"])

    assert (tmp_path / "log").read_text() == "$ echo 'two words'\ntwo words\n"


def test_a_tool_that_fails_returns_its_last_words(tmp_path: Path):
    words = Tools(tmp_path / "log").attempt("failing", ["sh", "-c", "echo because; exit 4"])

    assert words == "because\n"


def test_a_tool_that_must_work_and_does_not_is_trouble(tmp_path: Path):
    with pytest.raises(Trouble, match=r"failing failed: because\. The tool's words are in .*log"):
        Tools(tmp_path / "log").run("failing", ["sh", "-c", "echo because; exit 4"])


def test_a_tool_that_is_not_there_fails_with_words(tmp_path: Path):
    assert "nonesuch" in Tools(tmp_path / "log").attempt("looking", ["nonesuch-installer"])


def test_progress_tells_the_step_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    Tools(tmp_path / "log").run("making .venv", ["true"])

    said = capsys.readouterr()
    assert said.err == "tidemark: making .venv\n"
    assert said.out == ""


def test_a_tool_runs_with_the_users_settings_but_for_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
    monkeypatch.setenv("UV_INDEX_URL", "mirror")
    command = ["sh", "-c", 'echo "${VIRTUAL_ENV-unset} $UV_INDEX_URL $TMPDIR"; exit 1']

    words = Tools(tmp_path / "log").attempt("looking", command, TMPDIR="/roomy")

    assert words == "unset mirror /roomy\n"


def test_installers_are_not_aimed_elsewhere():
    user = {"PATH": "/bin", "VIRTUAL_ENV": "/v", "UV_PYTHON": "3.9", "UV_INDEX_URL": "mirror"}

    assert tool_environ(user) == {"PATH": "/bin", "UV_INDEX_URL": "mirror"}


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("error: failed to write: No space left on device (os error 28)", "the disk is full"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("cause: dns error: failed to lookup address", "index cannot be reached"),
        ("Temporary failure in name resolution", "index cannot be reached"),
        ("ERROR: No matching distribution found for pip==26.3", "index cannot be reached"),
        ("Hash mismatch for `rich==15`", "not the one that requirements.lock names"),
        ("THESE PACKAGES DO NOT MATCH THE HASHES", "not the one that requirements.lock names"),
        ("one\ntwo\nthree\nfour\n", "failed: two / three / four."),
        ("", "failed: without a word."),
    ],
)
def test_what_a_tool_said_becomes_what_the_user_needs_to_know(words: str, meaning: str):
    assert meaning in explain(words, "installing", Path("setup.log"))


@pytest.mark.parametrize(
    ("number", "meaning"),
    [
        (errno.ENOSPC, "The disk is full at here."),
        (errno.EROFS, "No permission to write at here."),
        (errno.EIO, "The environment cannot be made: "),
    ],
)
def test_an_error_of_the_system_is_a_sentence(number: int, meaning: str):
    assert os_sentence(OSError(number, os.strerror(number), "here")).startswith(meaning)


def test_too_small_a_disk_is_said_before_anything_is_made(tmp_path: Path):
    with pytest.raises(Trouble, match=r"1000000\.0 GB of free disk are needed at .* Make room"):
        tools.check_room(tmp_path, 1_000_000.0)


def test_the_cache_is_the_users(tmp_path: Path):
    folder = cache.cache_folder({"XDG_CACHE_HOME": str(tmp_path / "c")}, tmp_path / "clone")

    assert folder == tmp_path / "c" / "tidemark"


def test_without_a_usable_home_the_cache_is_in_the_clone(tmp_path: Path):
    (tmp_path / "file").touch()
    folder = cache.cache_folder({"XDG_CACHE_HOME": str(tmp_path / "file")}, tmp_path / "clone")

    assert folder == tmp_path / "clone" / ".tidemark" / "cache"


class Apt:
    """An apt that has some packages, and remembers what it was asked."""

    def __init__(self, *available: str, broken: bool = False) -> None:
        self.available = available
        self.broken = broken
        self.installed: list[str] = []

    def __call__(self, title: str, command: object, **environ: str) -> str:
        match command:
            case ["apt-cache", "show", package]:
                return "" if package in self.available else "No packages found"
            case ["apt-get", "install", *_, package] if not self.broken:
                self.installed.append(package)
                return ""
            case ["apt-get", "update"]:
                return ""
        return "failed"


def test_apt_installs_the_first_java_that_the_release_has():
    apt = Apt("openjdk-17-jre-headless", "openjdk-25-jre-headless")

    assert system.install_by_apt(system.JAVA_PACKAGES, apt)
    assert apt.installed == ["openjdk-17-jre-headless"]


@pytest.mark.parametrize("apt", [Apt(), Apt("openjdk-17-jre-headless", broken=True)])
def test_an_apt_that_cannot_is_told_apart(apt: Apt):
    assert not system.install_by_apt(system.JAVA_PACKAGES, apt)


def java_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "find_java", lambda: None)
    monkeypatch.setattr(system, "missing_sentence", lambda: "No Java. Install one.")


def test_a_missing_java_is_a_sentence_where_we_may_not_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    java_missing(monkeypatch)
    apt = Apt("openjdk-17-jre-headless")

    system.offer_java(apt, may_install=False)

    assert apt.installed == []
    assert capsys.readouterr().err == "tidemark: No Java. Install one.\n"


def test_root_on_debian_is_told_before_apt_installs_java(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    java_missing(monkeypatch)
    apt = Apt("openjdk-17-jre-headless")

    system.offer_java(apt, may_install=True)

    said = capsys.readouterr().err.splitlines()
    assert "installing one by apt" in said[0]
    assert apt.installed == ["openjdk-17-jre-headless"]
    assert said[-1] == "tidemark: apt could not install Java. No Java. Install one."


def test_a_java_that_is_there_is_left_alone(capsys: pytest.CaptureFixture[str], monkeypatch):
    monkeypatch.setattr(system, "find_java", lambda: object())

    system.offer_java(Apt(broken=True), may_install=True)

    assert capsys.readouterr().err == ""
