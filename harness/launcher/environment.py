"""What environment is asked for, and what is there.

A finished environment carries a stamp: the hash of requirements.lock, the interpreter it was made
from and the folder it belongs to (scripts in it hold absolute paths, so a moved clone needs a new
one). Any Python may start the launcher later; what counts is that the interpreter named in the
stamp is still there.
"""

import hashlib
import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

LAYOUT = 1
"""Raised when the launcher makes environments differently; older ones are then rebuilt."""

State = Literal["ready", "outdated", "unusable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The environment of one clone: its places, and whether it can be used as it is."""

    root: Path
    base_python: str
    version: str

    @classmethod
    def at(cls, root: str | Path) -> Self:
        """The environment of the clone at `root`, made or to be made by the running Python."""
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        return cls(root=Path(root), base_python=base_python(), version=version)

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp_file(self) -> Path:
        return self.folder / "tidemark-stamp.json"

    @property
    def site_packages(self) -> Path:
        return self.folder / "lib" / f"python{self.version}" / "site-packages"

    def stamp(self) -> dict[str, str | int]:
        """What the environment says of itself once it is finished."""
        lock = hashlib.sha256((self.root / "requirements.lock").read_bytes()).hexdigest()
        return {
            "layout": LAYOUT,
            "lock": lock,
            "python": self.base_python,
            "root": str(self.root),
            "version": self.version,
        }

    def state(self) -> State:
        """Ready; outdated when only the lock moved on, which is mended in place; else unusable."""
        found = self._read_stamp()
        wanted = self.stamp()
        if found.get("python") != self.base_python:
            # Another Python made it than the one that starts us. Both exist, so that is fine.
            wanted |= {key: found[key] for key in ("python", "version") if key in found}
        differing = [key for key in wanted if wanted[key] != found.get(key)]
        if not differing:
            return "ready"
        same_python = found.get("python") == self.base_python
        return "outdated" if same_python and differing == ["lock"] else "unusable"

    def _read_stamp(self) -> dict[str, str | int]:
        try:
            stamp = json.loads(self.stamp_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        python = os.path.realpath(self.python)
        whole = isinstance(stamp, dict) and stamp.get("python") == python and os.path.isfile(python)
        return stamp if whole else {}


def base_python() -> str:
    """The interpreter behind the running one, which may itself live in a passing venv."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One entry of the lock; `text` is its lines as they stand there, with markers and hashes."""

    name: str
    version: str
    marked: bool
    text: str


def read_lock(text: str) -> tuple[Requirement, ...]:
    """The entries of a lock file. A name occurs twice where versions differ by platform."""
    found = []
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        if match := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)( ;)?", block):
            name, version, marker = match.groups()
            found.append(
                Requirement(name=name.lower(), version=version, marked=bool(marker), text=block)
            )
    return tuple(found)


def setup_only(root: Path) -> frozenset[str]:
    """Packages that only the launcher uses: the dependency group `setup`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    group = project["dependency-groups"]["setup"]
    return frozenset(re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in group)


def installed_text(lock: tuple[Requirement, ...], without: frozenset[str], wheel: str) -> str:
    """The lock as it is installed: without the launcher's tools, and Spark as the wheel built here.

    The lock has the hash of Spark's source, which was checked when the wheel was built; the wheel,
    made on this machine, has a hash of its own, and its line carries that.
    """
    kept = [entry.text for entry in lock if entry.name not in without | {"pyspark"}]
    return "".join([*kept, wheel, "\n"])
