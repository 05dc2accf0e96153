"""Making the environment: the order of the steps, and every way out of them.

An environment without a fitting stamp is removed and made anew: an installer that was stopped may
have left a package half written, and linking everything again from the caches costs seconds. One
whose lock merely moved on is brought up to date in place, so that what runs in it keeps its files.
"""

import errno
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from harness.launcher.cache import Cache, cache_folder
from harness.launcher.environment import Environment, installed_text, read_lock, setup_only
from harness.launcher.system import apt_may_install, offer_java
from harness.launcher.tools import KEPT, Tools, Trouble, check_room, locked, say

LAB_BROKEN = 3
INTERRUPTED = 130
LEAST_UV = (0, 8)
ENVIRONMENT_GB = 1.5
"""Free disk asked for, a little above what was measured."""


def set_up(environment: Environment) -> int:
    """Make the environment ready; 0, or the exit code after a sentence that says what is wrong."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        with locked(environment.root / ".tidemark" / "setup.lock", "the environment"):
            if environment.state() != "ready":
                _Build(environment).run()
    except KeyboardInterrupt:
        say(f"stopped; {KEPT}, and the next start goes on from there")
        return INTERRUPTED
    except Trouble as trouble:
        say(str(trouble))
        return trouble.code
    except OSError as error:
        say(os_sentence(error))
        return LAB_BROKEN
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def os_sentence(error: OSError) -> str:
    """What an error of the operating system means for somebody who wants an environment."""
    where = f" at {error.filename}" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{where}. Make room and start again; {KEPT}."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"No permission to write{where}. The clone has to be writable on first use."
    return f"The environment cannot be made: {error}."


def usable_uv() -> str | None:
    """The uv on PATH, if it runs and is new enough for the options used here."""
    found = shutil.which("uv")
    if found is None:
        return None
    try:
        answer = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.match(r"uv (\d+)\.(\d+)", answer.stdout)
    return found if version and (int(version[1]), int(version[2])) >= LEAST_UV else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """What puts packages into an environment: uv, or the pip of our tools where there is no uv."""

    uv: str | None
    pip_python: Path | None = None

    def command(self, python: Path, requirements: Path, *, offline: bool = False) -> list[str]:
        """What gives `python` exactly these packages, each checked by its hash."""
        if self.uv is not None:
            sync = [self.uv, "pip", "sync", "--require-hashes", "--compile-bytecode"]
            wire = ["--offline"] if offline else []
            return [*sync, *wire, "--python", str(python), str(requirements)]
        pip = [str(self.pip_python), "-m", "pip", "--python", str(python), "install"]
        quiet = ["--disable-pip-version-check", "--no-input"]
        return [*pip, "--no-deps", "--require-hashes", *quiet, "-r", str(requirements)]


class _Build:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.state = environment.root / ".tidemark"
        self.tools = Tools(self.state / "setup.log")
        folder = cache_folder(os.environ, environment.root)
        self.cache = Cache(folder, self.tools, environment.base_python)
        self.without = setup_only(environment.root)
        text = (environment.root / "requirements.lock").read_text(encoding="utf-8")
        self.lock = read_lock(text)

    def run(self) -> None:
        began = time.monotonic()
        why = "the lock has changed" if self.environment.state() == "outdated" else "first use"
        say(f"making the environment in .venv from requirements.lock ({why})")
        check_room(self.environment.root, ENVIRONMENT_GB)
        with locked(self.cache.lock_file, "the installer's tools or Spark's wheel"):
            installer, wheel = self._from_cache()
        self._install(installer, wheel)
        self._attach_project()
        self._write_stamp()
        say(f"the environment is ready after {time.monotonic() - began:.0f} s")
        offer_java(self.tools.attempt, may_install=apt_may_install())

    def _from_cache(self) -> tuple[Installer, str]:
        uv = usable_uv()
        wanted = [one for one in self.lock if one.name in self.without]
        if uv is not None:
            wanted = [one for one in wanted if one.name != "uv"]
        spark = next(one for one in self.lock if one.name == "pyspark")
        wheel = self.cache.wheel(spark, wanted, uv)
        if uv is not None:
            return Installer(uv=uv), wheel
        python = self.cache.own_tools(wanted, uv)
        own_uv = python.with_name("uv")
        return Installer(uv=str(own_uv) if own_uv.exists() else None, pip_python=python), wheel

    def _install(self, installer: Installer, wheel: str) -> None:
        # pip adds and replaces but never takes away what the lock no longer names.
        in_place = self.environment.state() == "outdated" and installer.uv is not None
        self.environment.stamp_file.unlink(missing_ok=True)
        if not in_place:
            self._start_afresh()
        requirements = self.state / "environment.txt"
        text = installed_text(self.lock, self.without, wheel)
        requirements.write_text(text, encoding="utf-8")
        python = self.environment.python
        if installer.uv is not None:
            # All of it may be in uv's cache, and asking an index about each file takes long.
            from_cache = installer.command(python, requirements, offline=True)
            if not self.tools.attempt("installing the packages at hand", from_cache):
                return
        command = installer.command(python, requirements)
        self.tools.run("fetching and installing the packages", command)

    def _start_afresh(self) -> None:
        folder = self.environment.folder
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
        venv = [self.environment.base_python, "-m", "venv", "--without-pip", str(folder)]
        self.tools.run("making .venv", venv)

    def _attach_project(self) -> None:
        """Our packages importable from any folder, and the console script, without a build."""
        path_file = self.environment.site_packages / "tidemark.pth"
        path_file.write_text(f"{self.environment.root}\n", encoding="utf-8")
        script = self.environment.folder / "bin" / "tidemark"
        python = shlex.quote(str(self.environment.python))
        script.write_text(f'#!/bin/sh\nexec {python} -P -m harness.cli "$@"\n', encoding="utf-8")
        script.chmod(0o755)

    def _write_stamp(self) -> None:
        partial = self.environment.stamp_file.with_suffix(".partial")
        partial.write_text(json.dumps(self.environment.stamp(), indent=1), encoding="utf-8")
        partial.replace(self.environment.stamp_file)
