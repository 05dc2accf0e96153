"""Tiered topics at the controller: what is refused, and how one is deleted (C-07, C-08, C-30)."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from one_controller import Lab, played

from reference_impl.controller.decisions import brokers_have_stopped
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode

CREATE = apis.CREATE_TOPICS.request
ON = {"remote_log_storage_system_enable": "true"}
SET, DELETE, APPEND = 0, 1, 2
TOPIC = 2


async def create(lab: Lab, name: str = "t", *, count: int = 1, **configs: str) -> Any:
    chosen = [
        CREATE.CreatableTopicConfig(name=key.replace("_", "."), value=value)
        for key, value in configs.items()
    ]
    made = CREATE.CreatableTopic(
        name=name, num_partitions=count, replication_factor=1, configs=chosen
    )
    answer = await lab.ask(apis.CREATE_TOPICS, topics=[made], timeout_ms=1000, validate_only=False)
    return answer.topics[0]


async def alter(lab: Lab, *changes: tuple[str, int, str | None]) -> tuple[ErrorCode, str]:
    request = apis.INCREMENTAL_ALTER_CONFIGS.request
    configs = [
        request.AlterableConfig(name=name, config_operation=operation, value=value)
        for name, operation, value in changes
    ]
    resource = request.AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=configs)
    answer = await lab.ask(apis.INCREMENTAL_ALTER_CONFIGS, resources=[resource])
    return ErrorCode(answer.responses[0].error_code), answer.responses[0].error_message or ""


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ([("remote.storage.enable", SET, "false")], "remote.storage.enable"),
        ([("remote.storage.enable", DELETE, None)], "remote.storage.enable"),
        (
            [
                ("remote.storage.enable", SET, "false"),
                ("remote.log.delete.on.disable", SET, "true"),
            ],
            "remote.storage.enable",
        ),
        ([("cleanup.policy", SET, "compact")], "cleanup.policy"),
        ([("cleanup.policy", APPEND, "compact")], "cleanup.policy"),
        ([("retention.ms", SET, "4")], "local.retention.ms"),
        ([("local.retention.ms", SET, "6")], "local.retention.ms"),
        ([("local.retention.bytes", SET, "-3")], "local.retention.bytes"),
    ],
)
def test_a_tiered_topic_refuses(changes: list[tuple[str, int, str | None]], named: str) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab, remote_storage_enable="true", retention_ms="5", local_retention_ms="5")
        before = (await lab.image()).config(TOPIC, "t")
        code, said = await alter(lab, *changes)
        assert code is ErrorCode.invalid_config
        assert named in said
        assert (await lab.image()).config(TOPIC, "t") == before

    played(scenario, **ON)


def test_a_full_alter_that_leaves_tiering_out_is_refused() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab, remote_storage_enable="true")
        request = apis.ALTER_CONFIGS.request
        config = request.AlterableConfig(name="retention.ms", value="9")
        resource = request.AlterConfigsResource(
            resource_type=TOPIC, resource_name="t", configs=[config]
        )
        answer = await lab.ask(apis.ALTER_CONFIGS, resources=[resource])
        assert answer.responses[0].error_code == ErrorCode.invalid_config
        assert "remote.storage.enable" in answer.responses[0].error_message

    played(scenario, **ON)


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_a_compacted_topic_cannot_be_tiered_from_the_start_nor_later(policy: str) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        made = await create(lab, "other", remote_storage_enable="true", cleanup_policy=policy)
        assert made.error_code == ErrorCode.invalid_config
        await create(lab, cleanup_policy=policy)
        code, said = await alter(lab, ("remote.storage.enable", SET, "true"))
        assert (code, "cleanup.policy" in said) == (ErrorCode.invalid_config, True)

    played(scenario, **ON)


def test_without_the_system_no_topic_becomes_tiered() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        made = await create(lab, "other", remote_storage_enable="true")
        assert made.error_code == ErrorCode.invalid_config
        await create(lab)
        code, _ = await alter(lab, ("remote.storage.enable", SET, "true"))
        assert code is ErrorCode.invalid_config

    played(scenario)


def test_an_existing_topic_is_tiered_at_once() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab)
        code, _ = await alter(lab, ("remote.storage.enable", SET, "true"))
        assert code is ErrorCode.none

    played(scenario, **ON)


def test_the_metadata_topic_keeps_its_number_of_partitions() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab, "__remote_log_metadata", count=2)
        request = apis.CREATE_PARTITIONS.request
        more = request.CreatePartitionsTopic(name="__remote_log_metadata", count=3)
        answer = await lab.ask(
            apis.CREATE_PARTITIONS, topics=[more], timeout_ms=1000, validate_only=False
        )
        assert answer.results[0].error_code == ErrorCode.invalid_request
        assert len((await lab.image()).topics["__remote_log_metadata"].partitions) == 2

    played(scenario, **ON)


# Deletion.


async def delete(lab: Lab, name: str = "t") -> UUID:
    topic = apis.DELETE_TOPICS.request.DeleteTopicState(name=name)
    answer = await lab.ask(apis.DELETE_TOPICS, topics=[topic], timeout_ms=1000)
    assert answer.responses[0].error_code == ErrorCode.none
    found: UUID = answer.responses[0].topic_id
    return found


def test_a_deleted_tiered_topic_is_removing_until_its_brokers_have_read_so() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab, count=2, remote_storage_enable="true")
        before = await lab.image()
        topic_id = await delete(lab)
        removing = (await lab.image()).removing[topic_id]
        assert (removing.name, removing.partitions, removing.replicas) == ("t", (0, 1), (1,))
        await lab.beat(1, offset=before.offset)
        assert topic_id in (await lab.image()).removing
        await lab.beat(1, offset=removing.offset)
        after = await lab.image()
        assert (list(after.removing), list(after.stopped)) == ([], [topic_id])

    played(scenario, **ON)


def test_a_broker_that_is_fenced_is_not_waited_for() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab, remote_storage_enable="true")
        await lab.beat(1, offset=(await lab.image()).offset)
        topic_id = await delete(lab)
        await lab.up(2)
        assert topic_id in (await lab.image()).removing
        for _ in range(6):
            await asyncio.sleep(3)
            await lab.beat(2)
        assert (await lab.image()).brokers[1].fenced
        assert topic_id not in (await lab.image()).removing

    played(scenario, **ON)


def test_the_name_of_a_deleted_topic_is_free_at_once_under_another_id() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab, remote_storage_enable="true")
        old = await delete(lab)
        again = await create(lab, remote_storage_enable="true")
        assert again.error_code == ErrorCode.none
        image = await lab.image()
        assert image.topics["t"].topic_id != old
        assert list(image.removing) == [old]

    played(scenario, **ON)


def test_a_topic_that_is_not_tiered_leaves_nothing_to_remove() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await create(lab)
        await delete(lab)
        assert (await lab.image()).removing == {}

    played(scenario, **ON)


@pytest.mark.parametrize(
    ("read", "stopped"), [([], True), ([7], True), ([6], False), ([9, 6], False), ([8, 7], True)]
)
def test_brokers_have_stopped_once_all_have_read_of_the_deletion(
    read: list[int], stopped: bool
) -> None:
    assert brokers_have_stopped(7, read) is stopped
