"""Which values of the environment no view may show.

Those that a SUT file names always count. Others count by the name of their variable, if they can be
a secret: of eight characters or more, and no word that the lab itself says. A short or common value
(`MY_TOKEN_KIND=must`) would hide half of a report and protect nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from harness.errors import LabError
from harness.history.errors import HistoryError
from harness.history.files import read_object
from harness.history.run import HEADER_FILE
from harness.rules import Verdict
from harness.sut import find_sut
from harness.sut.adapter import WORLDS
from reports.plain import hiding

_SECRET_NAME = re.compile(r"password|passwd|secret|token|credential", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WORD = re.compile(r"[\w-]+")
SHORTEST_BY_NAME = 8


def secrets_of(*headers: Mapping[str, Any]) -> tuple[str, ...]:
    """Values that must not be shown in views of runs with these headers."""
    systems = dict.fromkeys(map(_system, headers))
    named = [value for system in systems for value in _named_by(system)]
    return tuple(dict.fromkeys([*named, *_by_name(os.environ)]))


def hiding_secrets_of(folders: Iterable[Path]) -> AbstractContextManager[None]:
    """The block within which no secret of these runs is shown; one that cannot be read has none."""
    headers = []
    for folder in folders:
        with suppress(HistoryError, OSError):
            headers.append(read_object(folder / HEADER_FILE))
    return hiding(secrets_of(*headers))


def _by_name(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if not _SECRET_NAME.search(name):
            continue
        if len(value) >= SHORTEST_BY_NAME and value.lower() not in _vocabulary():
            yield value


@cache
def _vocabulary() -> frozenset[str]:
    """What the lab says of any system: verdicts, worlds, and the words of the rules."""
    said = [*(verdict.value for verdict in Verdict), *WORLDS]
    for rule in CATALOGUE:
        said += [rule.id, rule.profile, rule.section, rule.sentence, rule.depth.value]
    words = {word for text in said for word in _WORD.findall(text.lower())}
    return frozenset({*words, *(text.lower() for text in said)})


def _system(header: Mapping[str, Any]) -> str:
    asked = header.get("options")
    return str(asked.get("sut") if isinstance(asked, dict) else header.get("sut"))


def _named_by(system: str) -> Iterator[str]:
    with suppress(LabError, OSError):
        for setting in map(str, find_sut(system).client.values()):
            for name in _REFERENCE.findall(setting):
                yield os.environ.get(name, "")
