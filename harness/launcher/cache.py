"""What is made once per machine and shared by all clones of a user.

The launcher's own tools (pip, setuptools, and uv where PATH has none) come from the lock like
everything else. Spark is published as source only, and building its wheel takes half a minute: it
is built once from the locked source, whose hash pip checks, and installed from then on by the hash
the wheel got. Each thing appears under its final name only when it is complete; one lock file
guards them all.
"""

import hashlib
import importlib.util
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.launcher.environment import Requirement
from harness.launcher.system import apt_may_install, install_by_apt
from harness.launcher.tools import Tools, Trouble, check_room, say

USAGE = 64
WHEEL_GB = 2.5
"""Free disk asked for while Spark's wheel is built, a little above what was measured."""


def cache_folder(environ: Mapping[str, str], root: Path) -> Path:
    """Where wheels and tools are kept: for all clones of the user, else inside this one."""
    cache = Path(environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tidemark"
    own = root / ".tidemark" / "cache"
    if not cache.is_absolute():  # a user without a home, usual in containers
        return own
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return own
    return cache if os.access(cache, os.W_OK) else own


def short_hash(*texts: str) -> str:
    """A name for something that depends on these texts and on nothing else."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class Cache:
    """The folder of shared things; the caller holds its lock."""

    def __init__(self, folder: Path, tools: Tools, base_python: str) -> None:
        self.folder = folder
        self.tools = tools
        self.base_python = base_python

    @property
    def lock_file(self) -> Path:
        return self.folder / "cache.lock"

    def own_tools(self, wanted: Sequence[Requirement], uv: str | None) -> Path:
        """The interpreter of an environment with these tools and nothing else."""
        key = short_hash(self.base_python, *(one.text for one in wanted))
        folder = self.folder / "tools" / key
        python = folder / "bin" / "python"
        if (folder / "complete").exists() and os.path.isfile(os.path.realpath(python)):
            return python
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        venv = [self.base_python, "-m", "venv", "--without-pip", str(folder)]
        self.tools.run("making a place for the installer's tools", venv)
        self._fill(folder, wanted, uv)
        (folder / "complete").touch()
        return python

    def _fill(self, folder: Path, wanted: Sequence[Requirement], uv: str | None) -> None:
        title = "fetching the installer's tools"
        python = folder / "bin" / "python"
        options = ["--require-hashes", "-r", _write(folder / "tools.txt", wanted)]
        if uv is not None:
            self.tools.run(title, [uv, "pip", "install", "--python", str(python), *options])
            return
        pip = self._first_pip(str(python))
        if self.tools.attempt(title, [*pip, "install", *options]):
            # Some platforms have no uv. pip alone is slower and does the same work.
            _write(folder / "tools.txt", [one for one in wanted if one.name != "uv"])
            self.tools.run(f"{title}, without uv", [*pip, "install", *options])

    def _first_pip(self, python: str) -> list[str]:
        """A pip to begin with: the one Python carries, the one it has, or the one apt gives it."""
        unpack = "unpacking the pip that Python carries"
        if importlib.util.find_spec("ensurepip") is not None:
            self.tools.run(unpack, [python, "-m", "ensurepip"])
            return [python, "-m", "pip"]
        if importlib.util.find_spec("pip") is not None:
            return [self.base_python, "-m", "pip", "--python", python]
        if apt_may_install():
            say("this Python carries no pip; as root on Debian, installing python3-venv by apt")
            if install_by_apt(["python3-venv"], self.tools.attempt):
                self.tools.run(unpack, [python, "-m", "ensurepip"])
                return [python, "-m", "pip"]
        raise Trouble(
            "Neither uv nor pip is here, and this Python carries none. Install uv, or pip (on"
            " Debian or Ubuntu: apt-get install python3-venv), and start again.",
            USAGE,
        )

    def wheel(self, source: Requirement, tools: Sequence[Requirement], uv: str | None) -> str:
        """The line that installs a package published as source, its wheel built if need be."""
        name = f"{source.name}-{source.version}-{short_hash(source.text)}"
        folder = self.folder / "wheels" / name
        if not folder.exists():
            self._build_wheel(source, folder, self.own_tools(tools, uv))
        wheel = next(folder.glob("*.whl"))
        digest = (folder / "sha256").read_text(encoding="ascii").strip()
        return f"{source.name} @ {wheel.as_uri()} --hash=sha256:{digest}"

    def _build_wheel(self, source: Requirement, folder: Path, python: Path) -> None:
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        (partial / "tmp").mkdir(parents=True)
        check_room(partial, WHEEL_GB)
        options = ["--no-deps", "--no-build-isolation", "--use-pep517", "--require-hashes"]
        options += ["--no-cache-dir", "--disable-pip-version-check", "--no-input"]
        requirements = _write(partial / "source.txt", [source])
        command = [str(python), "-m", "pip", "wheel", *options, "-r", requirements]
        title = f"building the wheel of {source.name} {source.version} (once per machine)"
        try:
            # pip unpacks in TMPDIR; a small /tmp must not be what a build fails on.
            self.tools.run(title, [*command, "-w", str(partial)], TMPDIR=str(partial / "tmp"))
            with next(partial.glob("*.whl")).open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            (partial / "sha256").write_text(digest, encoding="ascii")
            shutil.rmtree(partial / "tmp")
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _write(path: Path, requirements: Sequence[Requirement]) -> str:
    path.write_text("".join(one.text for one in requirements), encoding="utf-8")
    return str(path)
