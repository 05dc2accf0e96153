"""Plug-ins by name and path, and what each is configured with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reference_impl.metadata.configs import ConfigError
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.ports import Address
from reference_impl.tiered.object_storage import ObjectStorageManager
from reference_impl.tiered.plug_ins import (
    TOPIC_BASED,
    load_class,
    metadata_class_name,
    metadata_configs,
    storage_class_name,
    storage_configs,
)

GIVEN = BrokerLayers(
    static={
        "log.dirs": "/data",
        "remote.log.storage.manager.class.name": "a.B",
        "remote.log.storage.retries": "3",
        "rsm.config.key.prefix": "tier",
        "rsm.config.cluster.id": "mine",
        "remote.log.metadata.topic.num.partitions": "50",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "5",
        "rlmm.config.bootstrap.servers": "elsewhere:1",
    },
    dynamic={"remote.log.storage.retries": "4"},
)


def test_the_storage_plug_in_gets_its_family_and_what_has_its_prefix() -> None:
    assert storage_configs(GIVEN, cluster_id="c", broker_id=7) == {
        "remote.log.storage.manager.class.name": "a.B",
        "remote.log.storage.retries": "4",
        "key.prefix": "tier",
        "cluster.id": "c",
        "broker.id": "7",
    }


def test_the_prefixed_setting_wins_and_the_brokers_own_names_are_not_overridden() -> None:
    configs = metadata_configs(
        GIVEN, cluster_id="c", broker_id=7, log_dir="/d", listener=Address("host", 9092)
    )
    assert configs == {
        "remote.log.metadata.topic.num.partitions": "5",
        "cluster.id": "c",
        "broker.id": "7",
        "log.dir": "/d",
        "bootstrap.servers": "host:9092",
    }


def test_the_prefix_is_itself_a_setting() -> None:
    layers = BrokerLayers(
        static={"remote.log.storage.manager.impl.prefix": "my.", "my.key": "1", "rsm.config.x": "2"}
    )
    configs = storage_configs(layers, cluster_id="c", broker_id=7)
    assert (configs.get("key"), configs.get("x")) == ("1", None)


def test_a_missing_storage_manager_and_a_missing_listener_are_named() -> None:
    with pytest.raises(ConfigError, match=r"remote\.log\.storage\.manager\.class\.name"):
        storage_class_name(BrokerLayers())
    with pytest.raises(ConfigError, match=r"remote\.log\.metadata\.manager\.listener\.name"):
        metadata_class_name(BrokerLayers())
    named = BrokerLayers(static={"remote.log.metadata.manager.class.name": "my.Manager"})
    assert metadata_class_name(named) == "my.Manager"
    listening = BrokerLayers(static={"remote.log.metadata.manager.listener.name": "PLAINTEXT"})
    assert metadata_class_name(listening) == TOPIC_BASED


def test_a_class_is_found_by_its_dotted_name() -> None:
    name = f"{ObjectStorageManager.__module__}.{ObjectStorageManager.__name__}"
    assert load_class(name) is ObjectStorageManager
    for wrong in ("nowhere.Manager", "reference_impl.tiered.object_storage.Nothing", "Manager"):
        with pytest.raises(ConfigError, match="no plug-in"):
            load_class(wrong)


def test_what_is_loaded_from_a_class_path_is_seen_by_that_plug_in_alone(tmp_path: Path) -> None:
    for folder, text in (("one", "first"), ("two", "second")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "texts_of_plug_in.py").write_text(f"TEXT = {text!r}\n")
        (tmp_path / folder / "plug_in_by_path.py").write_text(
            "from texts_of_plug_in import TEXT\n\nclass Manager:\n    text = TEXT\n"
        )
    before, path = list(sys.modules), list(sys.path)

    found = [
        load_class("plug_in_by_path.Manager", str(tmp_path / folder)) for folder in ("one", "two")
    ]

    assert [one.text for one in found] == ["first", "second"]
    assert (list(sys.modules), sys.path) == (before, path)


def test_a_folder_that_hides_a_loaded_module_hides_it_from_the_plug_in_alone(
    tmp_path: Path,
) -> None:
    import colorsys

    (tmp_path / "colorsys.py").write_text("class Manager:\n    ours = True\n")
    assert load_class("colorsys.Manager", f"{tmp_path}:/nowhere").ours
    assert sys.modules["colorsys"] is colorsys
