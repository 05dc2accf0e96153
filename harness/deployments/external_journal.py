"""What a lab still owes to a cluster by address, written down before it is done.

Nothing that runs in the lab can tidy up once the lab was killed with SIGKILL. So each order that
hurts a broker or a link is noted with the order that undoes it, and a run with the tag of its
topics, in a file of `.tidemark/external`. Its owner holds a lock on the file for as long as it
lives, as in `harness/scratch.py`; the kernel lets go of it. The next run on that address carries
out what is still owed in files without an owner. What cannot be carried out stays noted.

Where the file system knows no locks nothing is noted: nothing may be undone under a living lab.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harness.errors import LabError
from harness.sut import Sut
from harness.sut.process_hook import ProcessHook

PLACE: Final = Path(".tidemark") / "external"
ENDING: Final = ".jsonl"
TOPICS: Final = "delete-topics"
"""Of a run, by the tag that their names end with, and the tokens of its plays, with which others
begin: the lab does this itself."""
Order = tuple[str, ...]


class Journal:
    """The notes of one run on one address."""

    def __init__(self, address: str) -> None:
        PLACE.mkdir(parents=True, exist_ok=True)
        self._owed: dict[Order, str] = {}
        self._path = PLACE / f"{_key(address)}-{secrets.token_hex(8)}{ENDING}"
        unnamed = self._path.with_suffix(".new")
        self._lock: int | None = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            self._lock = None
            unnamed.unlink()
        else:
            unnamed.rename(self._path)

    def owes(self, verb: str, *about: str) -> None:
        """Such an order is owed from now on; it replaces what was owed about the same."""
        self._owed[about] = verb
        self._write({"owed": verb, "about": about})

    def paid(self, *about: str) -> None:
        """Nothing is owed about these any more."""
        self._owed.pop(about, None)
        self._write({"paid": about})

    def close(self) -> None:
        """Let go of it; it stays if something is owed."""
        if self._lock is not None:
            if not self._owed:
                self._path.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def _write(self, line: dict[str, object]) -> None:
        if self._lock is not None:
            os.write(self._lock, json.dumps(line).encode() + b"\n")


@contextmanager
def journal_of(sut: Sut) -> Iterator[Journal | None]:
    """Where to note what is owed to a system by address, once what others left is paid."""
    if not sut.bootstrap:
        yield None
        return
    pay_what_is_owed(sut)
    journal = Journal(sut.bootstrap)
    try:
        yield journal
    finally:
        journal.close()


def pay_what_is_owed(sut: Sut) -> list[Order]:
    """Carry out what labs that are gone still owed to this address; what that was."""
    paid: list[Order] = []
    for path in sorted(PLACE.glob(f"{_key(sut.bootstrap or '')}-*{ENDING}")):
        try:
            lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue  # another lab has just paid it
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            owed = _owed_in(path.read_text(encoding="utf-8"))
            done = [one for one in owed if _carried_out(sut, *one)]
            paid += done
            if len(done) == len(owed):
                path.unlink()
        except OSError:
            continue  # it has an owner
        finally:
            os.close(lock)
    return paid


def _owed_in(text: str) -> list[Order]:
    """What is owed by the complete lines of a journal: orders to nodes first, then topics."""
    owed: dict[Order, str] = {}
    for line in text.split("\n")[:-1]:
        told = json.loads(line)
        if "owed" in told:
            owed[tuple(told["about"])] = told["owed"]
        else:
            owed.pop(tuple(told["paid"]), None)
    orders = [(verb, *about) for about, verb in owed.items()]
    return sorted(orders, key=lambda one: one[0] == TOPICS)


def _carried_out(sut: Sut, verb: str, *about: str) -> bool:
    if verb == TOPICS:
        # Not before it is needed: Kafka's messages take a second to import.
        from harness.deployments.external_topics import remove_topics

        return remove_topics(sut.bootstrap or "", about[0], about[1:])
    hook = sut.hooks.get("process")
    if hook is None:
        return False
    try:
        ProcessHook(hook.command, sut.folder).order(verb, *about)
    except LabError:
        return False
    return True


def _key(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()[:16]
