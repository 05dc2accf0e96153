"""Brokers come, serve, fall silent and go, and partitions follow."""

from __future__ import annotations

import asyncio

import pytest
from one_controller import CLUSTER, SESSION_S, Lab, played, silence

from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode


def test_a_broker_is_fenced_until_it_has_read_its_registration() -> None:
    async def scenario(lab: Lab) -> None:
        answer = await lab.register(1, rack="a")
        own = answer.broker_epoch
        early = await lab.beat(1, offset=own - 1)
        assert (early.is_caught_up, early.is_fenced) == (False, True)
        assert (await lab.image()).brokers[1].fenced

        late = await lab.beat(1, offset=own)
        assert (late.is_caught_up, late.is_fenced, late.should_shut_down) == (True, False, False)
        broker = (await lab.image()).brokers[1]
        assert (broker.fenced, broker.rack, broker.host, broker.port) == (False, "a", "b1", 9092)

    played(scenario)


def test_a_brokers_epoch_is_an_offset_of_the_metadata_log() -> None:
    async def scenario(lab: Lab) -> None:
        before = (await lab.image()).offset
        assert (await lab.register(1)).broker_epoch == before + 1

    played(scenario)


def test_a_second_broker_cannot_take_the_id_of_one_that_lives() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        refused = await lab.register(1, life=2)
        assert refused.error_code == ErrorCode.duplicate_broker_registration

        await silence(lab)
        later = await lab.register(1, life=2)
        assert later.error_code == ErrorCode.none

    played(scenario)


def test_a_broker_that_registers_again_keeps_its_epoch() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        epoch = lab.epochs[1]
        assert (await lab.register(1)).broker_epoch == epoch
        assert not (await lab.image()).brokers[1].fenced

    played(scenario)


def test_a_broker_of_another_cluster_is_refused() -> None:
    async def scenario(lab: Lab) -> None:
        answer = await lab.ask(
            apis.BROKER_REGISTRATION, broker_id=1, cluster_id=CLUSTER + "x", listeners=[]
        )
        assert answer.error_code == ErrorCode.inconsistent_cluster_id

    played(scenario)


@pytest.mark.parametrize(("broker", "epoch"), [(1, 0), (9, 0)])
def test_a_heartbeat_of_another_life_is_stale(broker: int, epoch: int) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        lab.epochs[broker] = epoch
        assert (await lab.beat(broker)).error_code == ErrorCode.stale_broker_epoch

    played(scenario)


def test_a_silent_broker_is_fenced_and_another_leads() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2, 3)
        await lab.create("t", (1, 2, 3), (2, 1, 3))
        await silence(lab, 2, 3)

        assert (await lab.image()).brokers[1].fenced
        first, second = await lab.state("t", 0), await lab.state("t", 1)
        assert (first.leader, first.leader_epoch, first.isr) == (2, 1, (2, 3))
        # It followed there: the leader stays, and with it its epoch.
        assert (second.leader, second.leader_epoch, second.isr) == (2, 0, (2, 3))
        assert (first.partition_epoch, second.partition_epoch) == (1, 1)

    played(scenario)


def test_a_broker_that_speaks_is_not_fenced() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await silence(lab, 1, seconds=SESSION_S * 3)
        assert not (await lab.image()).brokers[1].fenced

    played(scenario)


def test_the_last_of_an_isr_stays_eligible_and_leads_when_it_is_back() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("t", (1,))
        await silence(lab)
        gone = await lab.state("t")
        assert (gone.leader, gone.isr, gone.elr, gone.last_known_elr) == (-1, (), (1,), (1,))

        await lab.beat(1)
        back = await lab.state("t")
        assert (back.leader, back.isr, back.elr, back.last_known_elr) == (1, (1,), (), ())
        assert back.leader_epoch == 2

    played(scenario)


def test_nobody_outside_of_isr_and_elr_leads_unless_the_topic_allows_it() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("safe", (1, 2))
        await lab.create("loose", (1, 2), unclean_leader_election_enable="true")
        await silence(lab, 1)  # 2 leaves both ISRs
        await lab.beat(2)
        await silence(lab, 2)  # now 1 is gone

        safe, loose = await lab.state("safe"), await lab.state("loose")
        assert (safe.leader, safe.isr, safe.elr) == (-1, (), (1,))
        assert (loose.leader, loose.isr, loose.elr) == (2, (2,), ())

    played(scenario)


def test_a_leaving_broker_hands_its_leaderships_over_before_it_may_go() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        before = (await lab.image()).offset
        await lab.beat(2, offset=before)

        first = await lab.beat(1, leave=True)
        assert (first.should_shut_down, first.is_fenced) == (False, False)
        state = await lab.state("t")
        assert (state.leader, state.leader_epoch, state.isr) == (2, 1, (2,))
        # Broker 2 does not know yet that it leads.
        assert not (await lab.beat(1, leave=True)).should_shut_down

        await lab.beat(2, offset=(await lab.image()).offset)
        last = await lab.beat(1, leave=True)
        assert (last.should_shut_down, last.is_fenced) == (True, True)
        assert (await lab.image()).brokers[1].fenced

    played(scenario)


def test_a_broker_that_leads_nothing_may_go_at_once() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        assert (await lab.beat(2, leave=True)).should_shut_down
        assert (await lab.state("t")).isr == (1,)

    played(scenario)


def test_a_broker_back_from_a_clean_shutdown_stays_eligible() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("t", (1,))
        for _ in range(2):
            await lab.beat(1, leave=True)
        assert (await lab.state("t")).elr == (1,)

        await silence(lab)
        await lab.register(1, life=2, previous=lab.epochs[1])
        assert (await lab.state("t")).elr == (1,)

    played(scenario)


def test_a_broker_back_from_a_crash_may_have_lost_records_and_is_not_eligible() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2), min_insync_replicas="2")
        await silence(lab, 2)
        assert (await lab.state("t")).elr == (1,)

        await lab.register(1, life=2)
        state = await lab.state("t")
        assert (state.isr, state.elr) == ((2,), ())

    played(scenario)


def test_a_broker_that_is_unregistered_is_in_no_isr_and_not_in_the_cluster() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        answer = await lab.ask(apis.UNREGISTER_BROKER, broker_id=1)
        assert (answer.error_code, answer.error_message) == (0, None)
        state = await lab.state("t")
        assert (state.leader, state.isr) == (2, (2,))
        assert list((await lab.image()).brokers) == [2]

        again = await lab.ask(apis.UNREGISTER_BROKER, broker_id=1)
        assert again.error_code == ErrorCode.broker_id_not_registered
        assert again.error_message == "Broker ID 1 is not currently registered"

    played(scenario)


def test_preferred_replicas_get_their_leaderships_back_by_and_by() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1, 2))
        await silence(lab, 2)
        await lab.beat(1)
        state = await lab.state("t")
        member = apis.ALTER_PARTITION.request.BrokerState
        await lab.alter_isr(2, "t", state, [member(broker_id=b, broker_epoch=-1) for b in (2, 1)])
        assert (await lab.state("t")).leader == 2

        await silence(lab, 1, 2, seconds=30)
        state = await lab.state("t")
        assert (state.leader, state.leader_epoch, state.isr) == (1, 2, (2, 1))

    played(scenario, leader_imbalance_check_interval_seconds="20")


def test_producer_ids_come_in_blocks_that_never_overlap() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        blocks = [
            await lab.ask(
                apis.ALLOCATE_PRODUCER_IDS, broker_id=broker, broker_epoch=lab.epochs[broker]
            )
            for broker in (1, 2, 1)
        ]
        assert [block.producer_id_start for block in blocks] == [0, 1000, 2000]
        assert [block.producer_id_len for block in blocks] == [1000] * 3
        stale = await lab.ask(apis.ALLOCATE_PRODUCER_IDS, broker_id=1, broker_epoch=0)
        assert stale.error_code == ErrorCode.stale_broker_epoch

    played(scenario)


def test_a_fetch_of_the_metadata_waits_for_news() -> None:
    async def scenario(lab: Lab) -> None:
        clock = asyncio.get_running_loop().time
        end = (await lab.image()).offset + 1
        began = clock()
        nothing = await lab.fetch(end, max_wait_ms=500)
        assert (nothing.responses[0].partitions[0].records or b"") == b""
        assert clock() - began >= 0.5

        other = Lab(lab.sim)
        waiting = asyncio.get_running_loop().create_task(lab.fetch(end, max_wait_ms=60_000))
        began = clock()
        await other.register(5)
        data = (await waiting).responses[0].partitions[0]
        assert data.records
        assert data.high_watermark == end + 1
        assert clock() - began < 60
        await other.peer.close()

    played(scenario)


def test_a_fetch_beyond_the_metadata_is_out_of_range() -> None:
    async def scenario(lab: Lab) -> None:
        data = (await lab.fetch(99)).responses[0].partitions[0]
        assert data.error_code == ErrorCode.offset_out_of_range

    played(scenario)
