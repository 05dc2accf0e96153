"""Histories of others, brought into our form.

`import_history` looks at the beginning of a file and picks the importer, or takes the one named.
All of them give the same neutral events (see `neutral`), name what they could not read, and hold
hostile input to bounds: no input makes them recurse, hang or hold more than a bounded text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from ..errors import HistoryUnreadable
from ..files import open_regular
from ..history import History
from ..reader import read_history
from .edn import skip
from .jepsen_console import import_jepsen_console, looks_like_operation
from .jepsen_edn import import_jepsen_edn
from .kafka_json import import_kafka_json

__all__ = ["FORMS", "import_history", "sniff"]

FORMS: Final[Mapping[str, Callable[[Path], History]]] = {
    "ours": read_history,
    "jepsen-edn": import_jepsen_edn,
    "jepsen-console": import_jepsen_console,
    "kafka-json": import_kafka_json,
}

_NOT_TEXT: Final = {
    b"\x1f\x8b": "compressed with gzip: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
    b"\xfd7zXZ": "compressed with xz: unpack it first",
    b"BZh": "compressed with bzip2: unpack it first",
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"PAR1": "a table in Parquet, and no history",
}
_SNIFFED_BYTES: Final = 256 * 1024
_OURS = re.compile(r'\{\s*"(?:kind|format|index)"')
_JSON_DOCUMENT = re.compile(r'[\[{]\s*["{\]}]')
_JSON_ARRAY_OF_EDN = re.compile(r"[\[(]\s*\{\s*:")


def import_history(path: Path | str, form: str | None = None) -> History:
    """The history in a file of any known form; `form` names it, else it is recognised."""
    path = Path(path)
    form = sniff(path) if form is None else form
    if form not in FORMS:
        raise HistoryUnreadable(f"unknown form {form!r}; known are {', '.join(FORMS)}")
    return FORMS[form](path)


def sniff(path: Path) -> str:
    """Which form a file has, by its beginning."""
    if path.is_dir():
        return "ours"
    text = _beginning(path)
    if _OURS.match(text.lstrip()):
        return "ours"
    form = text[skip(text, 0) :]
    if _JSON_ARRAY_OF_EDN.match(form) or form[:1] in ("(", "#") or re.match(r"\{\s*:", form):
        return "jepsen-edn"
    if _JSON_DOCUMENT.match(form):
        return "kafka-json"
    if any(looks_like_operation(line) for line in text.splitlines()):
        return "jepsen-console"
    if form[:1] in ("[", "{"):
        return "jepsen-edn"
    raise HistoryUnreadable(f"{path} is no history this version knows: {', '.join(FORMS)}")


def _beginning(path: Path) -> str:
    """The first text of a file; what is no text is called by its name."""
    try:
        with open_regular(path) as file:
            raw = file.read(_SNIFFED_BYTES)
    except OSError as cause:
        raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause
    for magic, name in _NOT_TEXT.items():
        if raw.startswith(magic):
            raise HistoryUnreadable(f"{path} is {name}")
    if not raw.strip():
        raise HistoryUnreadable(f"{path} is empty: there is no history in it")
    return raw.decode("utf-8-sig", "replace")
