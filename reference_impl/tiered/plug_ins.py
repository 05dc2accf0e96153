"""Plug-ins by class name, each with its own settings (C-21, C-22).

A class name is a dotted Python name. Folders of a class path are searched first while that plug-in
is loaded, with all that it imports from them; neither the broker nor the other plug-in sees modules
that were found there.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reference_impl.decisions import decision
from reference_impl.metadata.configs import ConfigError
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.ports import Address
from reference_impl.tiered.settings import (
    LISTENER_NAME,
    METADATA_CLASS,
    STORAGE_CLASS,
    SYSTEM_ENABLE,
    all_set,
    set_text,
)

KAFKAS_METADATA_CLASS = (
    "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"
)
TOPIC_BASED = "reference_impl.tiered.topic_metadata.TopicBasedMetadataManager"
_STORAGE, _METADATA = "remote.log.storage.", "remote.log.metadata."
_PREFIXES = {_STORAGE: "rsm.config.", _METADATA: "rlmm.config."}


@decision("plug-in-settings", rules=("TS-141",))
def plug_in_settings(given: Mapping[str, str], family: str, prefix: str) -> dict[str, str]:
    """Settings of the family under their own names, and those of the plug-in without its prefix,
    which win."""
    found = {name: value for name, value in given.items() if name.startswith(family)}
    for name, value in given.items():
        if name.startswith(prefix):
            found[name.removeprefix(prefix)] = value
    return found


def storage_class_name(layers: BrokerLayers) -> str:
    """The storage plug-in; ConfigError if there is none, as it is mandatory."""
    name = set_text(layers, STORAGE_CLASS)
    if not name:
        raise ConfigError(f"{STORAGE_CLASS} is missing: {SYSTEM_ENABLE}=true needs it")
    return name


def metadata_class_name(layers: BrokerLayers) -> str:
    """The metadata plug-in; by default the one on the internal topic, which needs a listener."""
    name = set_text(layers, METADATA_CLASS)
    if name and name != KAFKAS_METADATA_CLASS:
        return name
    if not set_text(layers, LISTENER_NAME):
        raise ConfigError(f"{LISTENER_NAME} is missing: the metadata manager needs it")
    return TOPIC_BASED


def storage_configs(layers: BrokerLayers, *, cluster_id: str, broker_id: int) -> Mapping[str, str]:
    """What the storage plug-in is configured with."""
    return _configs(layers, _STORAGE) | {"cluster.id": cluster_id, "broker.id": str(broker_id)}


def metadata_configs(
    layers: BrokerLayers, *, cluster_id: str, broker_id: int, log_dir: str, listener: Address
) -> Mapping[str, str]:
    """What the metadata plug-in is configured with; nothing overrides the last four."""
    return _configs(layers, _METADATA) | {
        "cluster.id": cluster_id,
        "broker.id": str(broker_id),
        "log.dir": log_dir,
        "bootstrap.servers": f"{listener.host}:{listener.port}",
    }


def _configs(layers: BrokerLayers, family: str) -> dict[str, str]:
    given = all_set(layers)
    prefix = given.get(f"{family}manager.impl.prefix", _PREFIXES[family])
    return plug_in_settings(given, family, prefix)


def load_class(name: str, class_path: str | None = None) -> Any:
    """The class of that dotted name; ConfigError if there is none."""
    module_name, _, class_name = name.rpartition(".")
    folders = [one for one in (class_path or "").split(":") if one]
    try:
        with _searched_first(folders):
            return getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"there is no plug-in {name}: {error}") from error


@contextmanager
def _searched_first(folders: list[str]) -> Iterator[None]:
    """Import from these folders, and leave no trace of it for others."""
    there = {
        one.name.partition(".")[0]: None
        for folder in folders
        for one in sorted(Path(folder).glob("*"))
        if one.is_dir() or one.suffix == ".py"
    }

    def take() -> dict[str, Any]:
        names = [one for one in sys.modules if one.partition(".")[0] in there]
        return {one: sys.modules.pop(one) for one in names}

    before = take()
    sys.path[:0] = folders
    importlib.invalidate_caches()
    try:
        yield
    finally:
        del sys.path[: len(folders)]
        take()
        sys.modules.update(before)
