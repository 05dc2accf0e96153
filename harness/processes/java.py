"""Finding Java, the one thing Spark needs that no Python package brings along.

Places are tried in the order a person would expect to be obeyed: `JAVA_HOME`, the `java` on
`PATH`, then the folders in which systems and version managers keep their Javas, newest first. The
first that is new enough wins; an older one is passed over, never used, and named in the sentence
that says what to install. The version is read from the `release` file beside the binary; only
where there is none (shims, very old Javas) is the binary asked, because starting a JVM costs a
noticeable fraction of a second.

Standard library only: the launcher imports this module before any package is installed.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LEAST_JAVA = 17
"""The oldest Java that Spark 4 starts on."""

USUAL_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)

WITHOUT_JAVA = (
    f"Install Java {LEAST_JAVA} or newer (on Debian or Ubuntu: apt-get install"
    " openjdk-17-jre-headless, or the newest openjdk your release has), or set JAVA_HOME to it."
    " Without it Spark cannot judge; `--engine inline` judges with DuckDB instead."
)
"""What to install, and what works without it."""


class JavaMissing(RuntimeError):
    """No Java that Spark can start on; the message says what was seen and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java installation: where it is, how new, and which place led to it."""

    home: Path
    major: int
    found_by: str

    @property
    def path(self) -> Path:
        """The `java` binary."""
        return self.home / "bin" / "java"


def find_java(
    environ: Mapping[str, str] | None = None, folders: Sequence[str] = USUAL_FOLDERS
) -> Java | None:
    """The first Java that is new enough for Spark, or None."""
    found = all_javas(os.environ if environ is None else environ, folders)
    return next((java for java in found if java.major >= LEAST_JAVA), None)


def java_home_for_spark(
    environ: Mapping[str, str] | None = None, folders: Sequence[str] = USUAL_FOLDERS
) -> str:
    """What `JAVA_HOME` has to be when Spark is started; JavaMissing if there is none."""
    environ = os.environ if environ is None else environ
    java = find_java(environ, folders)
    if java is None:
        raise JavaMissing(missing_sentence(environ, folders))
    return str(java.home)


def missing_sentence(
    environ: Mapping[str, str] | None = None, folders: Sequence[str] = USUAL_FOLDERS
) -> str:
    """That no usable Java was found, which ones are too old, and what to do about it."""
    seen = all_javas(os.environ if environ is None else environ, folders)
    old = ", ".join(f"Java {java.major} at {java.home}" for java in seen)
    passed_over = f" ({old}: too old)" if old else ""
    return f"No Java {LEAST_JAVA} or newer was found{passed_over}. {WITHOUT_JAVA}"


def all_javas(environ: Mapping[str, str], folders: Sequence[str]) -> Iterator[Java]:
    """Every Java that answers, in the order in which they are preferred; each home once."""
    seen: list[Path] = []
    for found_by, binary in _binaries(environ, folders):
        java = _describe(binary, found_by)
        if java is not None and java.home not in seen:
            seen.append(java.home)
            yield java


def major_version(version: str) -> int | None:
    """17 of `17.0.15+6`, 8 of `1.8.0_392`, 25 of `25-ea`; None for what is no version."""
    match = re.match(r"(?:1\.)?(\d+)", version.strip().strip('"'))
    return int(match[1]) if match else None


def _binaries(environ: Mapping[str, str], folders: Sequence[str]) -> Iterator[tuple[str, Path]]:
    if home := environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environ.get("PATH", os.defpath)):
        yield "PATH", Path(on_path)
    for pattern in folders:
        yield from ((str(home.parent), home / "bin" / "java") for home in _newest_first(pattern))


def _newest_first(pattern: str) -> list[Path]:
    expanded = Path(pattern).expanduser()
    anchor = Path(expanded.anchor)
    homes = anchor.glob(str(expanded.relative_to(anchor)))
    return sorted(homes, key=lambda home: (_release_major(home) or 0, home.name), reverse=True)


def _describe(binary: Path, found_by: str) -> Java | None:
    if not os.access(binary, os.X_OK):
        return None
    home = binary.resolve().parent.parent
    major = _release_major(home)
    if major is not None:
        return Java(home=home, major=major, found_by=found_by)
    return _ask(binary, found_by)


def _release_major(home: Path) -> int | None:
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return major_version(match[1]) if match else None


def _ask(binary: Path, found_by: str) -> Java | None:
    command = [str(binary), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None  # a shim with nothing behind it, or a stub that offers to install Java
    settings = dict(
        re.findall(r"^\s*(java\.home|java\.version) = (.+)$", answer.stderr, re.MULTILINE)
    )
    major = major_version(settings.get("java.version", ""))
    if major is None or "java.home" not in settings:
        return None
    return Java(home=Path(settings["java.home"]), major=major, found_by=found_by)
