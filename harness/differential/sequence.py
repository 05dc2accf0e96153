"""A sequence: a few raw requests with one story, as data.

Values that differ from cluster to cluster are symbols, resolved when the sequence is played:

| symbol | stands for |
|---|---|
| `$topic:a` | a topic name of this play alone |
| `$topic_id:a` | the id that the cluster gave that topic |
| `$ref:pid`, `$ref:pid+1` | what an earlier answer said, kept under that name by `save` |
| `$now`, `$now-1000` | milliseconds at the start of the play |
| `$broker:0` | the id of the cluster's first broker |
| `$cluster_id` | the cluster's id |

A field named `records` holds batches as `batches.py` describes them, one or a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request, and what to do with its answer."""

    api: str
    version: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    body: str | None = None
    """Bytes in hex, sent in place of the encoded fields."""
    frame: str | None = None
    """Bytes in hex, sent in place of the whole request, header included."""
    on: str = "main"
    """Which connection; each name is one connection for the whole play. `broker:1` is one to the
    cluster's second broker, `transaction:t` and `no-group:g` are said in `coordination.py`; every
    other name is one to the broker that the play began with."""
    save: Mapping[str, str] = field(default_factory=dict)
    """Names for later `$ref`s, each with the path of a value in this answer."""
    until: Mapping[str, Any] = field(default_factory=dict)
    """Ask again until these paths have these values, of a list any of them: some effects reach a
    broker a moment later."""
    own_topics: bool = False
    """The answer is about the whole cluster; only what concerns this play's topics is compared."""
    compared: bool = True
    """False for steps that only prepare or wait."""
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Only what is said, so that a sequence in a file reads like a sequence in code."""
        said: dict[str, Any] = {"api": self.api, "version": self.version}
        for name in ("fields", "save", "until", "note", "body", "frame"):
            if getattr(self, name):
                said[name] = getattr(self, name)
        if self.on != "main":
            said["on"] = self.on
        if self.own_topics:
            said["own_topics"] = True
        if not self.compared:
            said["compared"] = False
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSequence:
    """Requests in order, with a name like `produce/bad_crc`."""

    name: str
    steps: tuple[Step, ...]
    about: str = ""
    brokers: int = 1
    """How many a cluster has to have: to another, some answers would be different."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "about": self.about,
            **({} if self.brokers == 1 else {"brokers": self.brokers}),
            "steps": [step.as_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> RequestSequence:
        return cls(
            name=said["name"],
            about=said.get("about", ""),
            brokers=said.get("brokers", 1),
            steps=tuple(Step(**step) for step in said["steps"]),
        )


def lookup(answer: Any, path: str) -> Any:
    """The value at a path such as `responses.0.error_code`; KeyError where there is none."""
    here = answer
    for part in path.split("."):
        if isinstance(here, Sequence) and not isinstance(here, str) and part.isdigit():
            if int(part) >= len(here):
                raise KeyError(path)
            here = here[int(part)]
        elif isinstance(here, Mapping) and part in here:
            here = here[part]
        else:
            raise KeyError(path)
    return here
