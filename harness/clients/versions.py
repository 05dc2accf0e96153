"""Versions that both sides speak: a request is sent in the newest one not above the lab's own.

The lab writes every request in one version of its choice. A broker that offers none so new is asked
in an older one, down to the first that can still say what is meant (`LEAST`); fields that are new
since then have to be empty, else the request is not offered. What an older answer has no field
for is not told; `LEAST` is chosen so that histories get by without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from types import MappingProxyType
from typing import Any

from kio.serial._introspect import classify_field

from harness.clients.messages import API_KEYS, default_of, request_schema
from reference_impl.ports import Address

Offered = Mapping[int, tuple[int, int]]
"""By the key of each request the first and the last version that a broker answers."""

NAMES: Mapping[int, str] = MappingProxyType({key: name for name, key in API_KEYS.items()})
LEAST: Mapping[str, int] = MappingProxyType(
    {
        "metadata": 7,  # leader epochs
        "produce": 7,  # batches of every codec, and where the log starts
        "fetch": 10,  # the same, and the epoch that a reader believes in
        "list_offsets": 7,  # the largest timestamp
        "offset_for_leader_epoch": 3,
        "delete_records": 0,
        "create_topics": 4,  # partitions and replicas as the brokers like
        "delete_topics": 1,
        "create_partitions": 0,
        "elect_leaders": 1,  # both kinds of election
        "incremental_alter_configs": 0,
        "describe_configs": 1,
        "alter_partition_reassignments": 0,
        "init_producer_id": 3,
        "add_offsets_to_txn": 0,
        "offset_fetch": 8,
        "find_coordinator": 4,
    }
)
"""The oldest version that can say what the lab means; of others only the lab's own can."""
NO_OLDER = frozenset({("produce", 12), ("end_txn", 5), ("txn_offset_commit", 5)})
"""What is said in these versions means something else in older ones: transactions of KIP-890."""


class NotOffered(OSError):
    """A request that the broker does not offer in a version that the lab can ask."""


class OfferedAddress(Address):
    """Where a broker listens that offers some requests, in some versions."""

    offered: Offered

    @classmethod
    def of(cls, address: Address, offered: Offered) -> OfferedAddress:
        """An address, and what is offered there."""
        made = cls(*address)
        made.offered = offered
        return made


def least_version(api: str, version: int) -> int:
    """The oldest version that can say what the lab means by a request of this one."""
    return version if (api, version) in NO_OLDER else LEAST.get(api, version)


def spoken_version(api: str, version: int, offered: Offered) -> int | None:
    """The version that both speak, if the lab would ask this one; None if there is none."""
    first, last = offered.get(API_KEYS[api], (0, -1))
    newest = min(version, last)
    return newest if newest >= max(first, least_version(api, version)) else None


def why_not_offered(api: str, version: int, offered: Offered) -> str | None:
    """Why a broker cannot be asked, if it cannot."""
    if spoken_version(api, version, offered) is not None:
        return None
    least = least_version(api, version)
    asked = f"version {version}" if least == version else f"versions {least} to {version}"
    if API_KEYS[api] not in offered:
        return f"it does not offer {api}"
    first, last = offered[API_KEYS[api]]
    return f"it offers {api} in versions {first} to {last}, and the lab asks {asked}"


def spoken(request: Any, offered: Offered) -> Any:
    """The same request in a version that both speak."""
    api, version = NAMES[int(request.__api_key__)], int(request.__version__)
    if api == "api_versions":
        return request
    there = spoken_version(api, version, offered)
    if there is None:
        raise NotOffered(why_not_offered(api, version, offered))
    return request if there == version else _older(request, request_schema(api, there), api)


def _older(entity: Any, schema: type[Any], api: str) -> Any:
    """The entity as an older schema has it."""
    mine = {one.name: getattr(entity, one.name) for one in fields(entity)}
    there = {one.name: one for one in fields(schema)}
    if api == "delete_topics" and "topic_names" in there:
        mine["topic_names"] = tuple(one.name for one in mine.pop("topics"))
    for one in fields(entity):
        value = mine.get(one.name)
        if one.name not in there and value is not None and value != default_of(one):
            raise NotOffered(f"its version of {api} has no {one.name}")
    made = {}
    for name, field in there.items():
        kind = _structure(field)
        value = mine.get(name, default_of(field))
        if kind is not None and name in mine:
            many = isinstance(value, tuple)
            olds = [_older(part, kind, api) for part in (value if many else (value,))]
            value = tuple(olds) if many else olds[0]
        made[name] = value
    return schema(**made)


Kinds = dict[str, tuple[type[Any] | None, Any]]
_KINDS: dict[type[Any], Kinds] = {}


class OlderAnswer:
    """What an older answer says, with the names of a newer one; of the rest the empty value."""

    __slots__ = ("_newer", "_told")

    def __init__(self, told: Any, newer: type[Any]) -> None:
        self._told = told
        self._newer = newer

    def __getattr__(self, name: str) -> Any:
        kinds = _KINDS.get(self._newer) or _KINDS.setdefault(self._newer, _kinds(self._newer))
        if not hasattr(self._told, name):
            if name not in kinds:
                raise AttributeError(f"{self._newer.__name__} has no {name}")
            return kinds[name][1]
        value, part = getattr(self._told, name), kinds.get(name, (None, None))[0]
        if part is None or value is None:
            return value
        if isinstance(value, tuple):
            return tuple(OlderAnswer(one, part) for one in value)
        return OlderAnswer(value, part)


def _kinds(schema: type[Any]) -> Kinds:
    """By name, what its fields are made of if they are structures, and their empty value."""
    found: Kinds = {}
    for one in fields(schema):
        unnamed = one.metadata.get("kafka_type") == "uuid"
        found[one.name] = (_structure(one), None if unnamed else default_of(one))
    return found


def _structure(field: Field[Any]) -> type[Any] | None:
    """What a field is made of, if it is a structure or several."""
    kind = getattr(classify_field(field), "type_", None)
    return kind if isinstance(kind, type) and is_dataclass(kind) else None
