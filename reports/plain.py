"""Text from a system under test, as a person may be shown it.

Names, topics, records and messages come from systems and files that the lab does not trust.
`printable` spells out what could steer a terminal or turn the direction of writing. `scrubbed`
replaces what is a secret (values of the environment that a SUT file names, told by `hiding`) or
looks like one (what stands behind a word such as `password`). Escaping for HTML and XML is
`markup`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Control characters, separators of lines, and what turns the direction of writing.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
    r"|[\ud800-\udfff]"
)

HIDDEN = "[hidden]"
_SHORTEST_SECRET = 4
_KNOWN: ContextVar[tuple[str, ...]] = ContextVar("secrets", default=())
# Words are taken whole and once (?>…), so that a very long one costs no more than its length.
_SECRET_WORD = (
    r"(?<![\w.-])(?>[\w.-]*?(?:password|passwd|secret|token|private[._-]?key|credential)[\w.-]*)"
)
_AFTER_A_WORD = re.compile(
    rf"""(?i)(?P<name>["']?{_SECRET_WORD}["']?\s*[=:]\s*)(?P<value>"[^"]*"|'[^']*'|[^\s,;&}}\]]+)"""
)
_IN_AN_ADDRESS = re.compile(r"(?<![a-z0-9+.-])(?P<scheme>[a-z0-9+.-]++://)[^\s/@:]+:[^\s/@]+@")
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*KEY-----|\Z)", re.S)


def printable(text: str) -> str:
    """The text as a terminal may have it, in one line: what could steer it is spelled out.

    The form is that of JSON, so a document stays what it is.
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@contextmanager
def hiding(secrets: Iterable[str]) -> Iterator[None]:
    """Within the block these values appear in no view."""
    kept = {one for one in secrets if len(one) >= _SHORTEST_SECRET}
    before = _KNOWN.set((*_KNOWN.get(), *sorted(kept, key=len, reverse=True)))
    try:
        yield
    finally:
        _KNOWN.reset(before)


def sounds_secret(name: str) -> bool:
    """Whether what a name stands for is not to be shown."""
    return re.fullmatch(_SECRET_WORD, name, re.IGNORECASE) is not None


def scrubbed(text: str) -> str:
    """The text without the secrets that are known, and without what looks like one."""
    for secret in _KNOWN.get():
        text = text.replace(secret, HIDDEN)
    text = _BLOCK.sub(HIDDEN, text)
    text = _IN_AN_ADDRESS.sub(lambda found: f"{found['scheme']}{HIDDEN}@", text)
    return _AFTER_A_WORD.sub(lambda found: f"{found['name']}{HIDDEN}", text)


def clean(value: Any) -> Any:
    """A document without secrets, still a document."""
    if isinstance(value, str):
        return scrubbed(value)
    if isinstance(value, Mapping):
        return {
            scrubbed(str(key)): HIDDEN
            if sounds_secret(str(key)) and isinstance(each, str)
            else clean(each)
            for key, each in value.items()
        }
    return [clean(each) for each in value] if isinstance(value, list | tuple) else value
