"""The files of an image, gathered from this machine, and the image made of them.

No other image is needed, so no registry: `docker import` takes the tree as it is. Programs bring
the libraries they are linked with, at the paths where the loader looks for them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docker.errors import ImageNotFound  # type: ignore[import-untyped]

from harness.errors import LabBroken

LABEL = "tidemark.image"
NAME_SERVICES = ("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2")
_LIBRARY = re.compile(r"(?:=>\s+)?(/\S+)\s+\(0x")
_FILES_AT_ONCE = 200


class Tree:
    """Files by their path in the image."""

    def __init__(self) -> None:
        self._files: dict[str, Path | bytes] = {}
        self._programs: set[Path] = set()

    def add(self, path: Path, at: str, *, leave_out: Sequence[str] = ()) -> None:
        """A file, or a folder without these names in it; what is linked brings its libraries."""
        if path.is_file():
            self._take(path, at)
            return
        for folder, names, files in os.walk(path):
            names[:] = sorted(name for name in names if name not in leave_out)
            for name in sorted(files):
                one = Path(folder) / name
                if name not in leave_out and one.exists():
                    self._take(one, f"{at}/{one.relative_to(path)}")

    def program(self, name: str, at: str | None = None) -> None:
        """A program of this machine, into /bin."""
        found = shutil.which(name)
        if found is None:
            raise LabBroken(f"an image needs `{name}`, and there is none on PATH")
        self._take(Path(os.path.realpath(found)), at or f"/bin/{name}")

    def write(self, at: str, text: str) -> None:
        """A small file; a program if it begins like one."""
        self._files[at] = text.encode()

    def libraries(self) -> None:
        """Whatever the programs among the files are linked with, and the loader."""
        inside = {name.rpartition("/")[2] for name in self._files}
        wanted: set[str] = set()
        programs = sorted(self._programs)
        for start in range(0, len(programs), _FILES_AT_ONCE):
            told = subprocess.run(
                ["ldd", *map(str, programs[start : start + _FILES_AT_ONCE])],
                capture_output=True,
                text=True,
                check=False,
            ).stdout
            wanted |= set(map(os.path.normpath, _LIBRARY.findall(told)))
        folders = {str(Path(one).parent) for one in wanted if one.startswith(("/lib", "/usr/lib"))}
        wanted |= {f"{folder}/{name}" for folder in folders for name in NAME_SERVICES}
        for path in sorted(wanted):
            if Path(path).exists() and not self._is_own(path, inside):
                self._files[path] = Path(os.path.realpath(path))

    def _is_own(self, path: str, inside: set[str]) -> bool:
        """Libraries that came with the files find each other where they are."""
        return path in self._files or (
            not path.startswith(("/lib", "/usr/lib")) and Path(path).name in inside
        )

    def _take(self, path: Path, at: str) -> None:
        self._files[at] = path
        with path.open("rb") as file:
            if file.read(4) == b"\x7fELF":
                self._programs.add(path)

    def archive(self, place: Path, *, folders: Iterable[str] = ()) -> None:
        """All of it as a tar file; anybody may write into the ``folders``."""
        with tarfile.open(place, "w", format=tarfile.PAX_FORMAT) as tar:
            for folder in ("/tmp", *folders):
                one = tarfile.TarInfo(folder.lstrip("/"))
                one.type, one.mode = tarfile.DIRTYPE, 0o1777
                tar.addfile(one)
            for at, source in sorted(self._files.items()):
                one = tarfile.TarInfo(at.lstrip("/"))
                if isinstance(source, bytes):
                    with tempfile.TemporaryFile() as file:
                        file.write(source)
                        file.seek(0)
                        one.size = len(source)
                        one.mode = 0o755 if source.startswith(b"#!") else 0o644
                        tar.addfile(one, file)
                else:
                    found = source.stat()
                    one.size, one.mode = found.st_size, stat.S_IMODE(found.st_mode) | 0o444
                    with source.open("rb") as file:
                        tar.addfile(one, file)

    def imported(
        self, client: Any, tag: str, *, changes: Sequence[str], folders: Iterable[str] = ()
    ) -> str:
        """Make the image, and say its tag."""
        repository, _, version = tag.rpartition(":")
        with tempfile.TemporaryDirectory(prefix="tidemark-image-") as folder:
            place = Path(folder) / "tree.tar"
            self.archive(place, folders=folders)
            client.api.import_image(
                src=str(place),
                repository=repository,
                tag=version,
                changes=[*changes, f"LABEL {LABEL}={repository}"],
            )
        if not is_there(client, tag):
            raise LabBroken(f"the Docker engine did not take the image {tag}")
        return tag


def is_there(client: Any, tag: str) -> bool:
    """Whether the engine has an image."""
    try:
        client.images.get(tag)
    except ImageNotFound:
        return False
    return True


def digest_of(words: Iterable[str], files: Iterable[Path] = ()) -> str:
    """Of what an image is made from: a short name for just this."""
    found = hashlib.sha256("\n".join(words).encode())
    for path in files:
        found.update(str(path).encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:12]
