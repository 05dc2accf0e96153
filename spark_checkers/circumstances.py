"""Under which circumstances a history was made: some of what it shows is allowed by them.

`subscribe`: consumers took part in a group, so a rebalance may move them between two operations.
`ww-deps`: whoever made the history wants the order of writes to count as dependency.
`diskless`: some logs have no leader of their own, any broker answers for them in the same epoch.

A history tells by the options it was recorded with and by the profiles claimed; where the options
say nothing about subscriptions, by its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

SUBSCRIBE = "subscribe"
WW_DEPS = "ww-deps"
DISKLESS = "diskless"


def circumstances_of(header: Mapping[str, Any], subscribed: Callable[[], bool]) -> frozenset[str]:
    """The circumstances that a header tells, and that the operations show where it is silent:
    whether there were subscriptions."""
    options = _options(header)
    found = {WW_DEPS} if options.get("ww-deps") else set()
    found |= {DISKLESS} & set(header.get("profiles") or ())
    told = options.get("sub-via")
    if told is not None:
        found |= {SUBSCRIBE} if SUBSCRIBE in told else set()
    elif subscribed():
        found |= {SUBSCRIBE}
    return frozenset(found)


def _options(header: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the recorder, with hyphens in their names."""
    document = header.get("source_document")
    told = document.get("options") if isinstance(document, dict) else header.get("options")
    if not isinstance(told, dict):
        return {}
    return {str(name).replace("_", "-"): value for name, value in told.items()}
