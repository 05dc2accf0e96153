"""Controllers and leaders as a hurried engineer might have written them: who leads, who may.

All of them create topics and elect leaders in a cluster that is up. What they make of replicas that
are moved, of brokers that go and of those that come back is what the rules are there to see.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from reference_impl.controller.decisions import BrokerState, Elected, Election, Heartbeat
from reference_impl.controller.placement import UsableBroker
from reference_impl.decisions import Mutant, original
from reference_impl.metadata.image import Broker, PartitionState
from reference_impl.metadata.visible import Viewer, VisiblePartition
from reference_impl.ports.clock import Rng


def _idle_brokers_stay_fenced(current: BrokerState, heartbeat: Heartbeat) -> BrokerState:
    state = original("next-broker-state")(current, heartbeat)
    unfenced = current is BrokerState.FENCED and state is BrokerState.UNFENCED
    return current if unfenced and not heartbeat.leads else state  # type: ignore[return-value]


def _serves_before_it_knows(current: BrokerState, heartbeat: Heartbeat) -> BrokerState:
    return original("next-broker-state")(  # type: ignore[return-value]
        current, replace(heartbeat, caught_up=True)
    )


def _fenced_replicas_look_well(
    state: PartitionState, brokers: Mapping[int, Broker], viewer: Viewer
) -> VisiblePartition:
    seen: Any = original("visible-partition")(state, brokers, viewer)
    forgotten = tuple(one for one in seen.offline if one not in brokers)
    return cast(VisiblePartition, replace(seen, offline=forgotten))


def _losses_go_unsaid(
    state: PartitionState, acceptable: Collection[int], election: Election
) -> Elected:
    elected = original("elect-leader")(state, acceptable, election)
    return Elected(leader=elected.leader)  # type: ignore[attr-defined]


def _isr_keeps_who_went(
    state: PartitionState, isr: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    done = original("complete-reassignment")(state, isr)
    return None if done is None else (done[0], tuple(isr))  # type: ignore[index]


def _epochs_are_for_leaders(state: PartitionState, leader: int, replicas: Sequence[int]) -> bool:
    return leader != state.leader


def _epochs_are_for_changes(state: PartitionState, leader: int, replicas: Sequence[int]) -> bool:
    return True


def _epochs_are_for_moves(state: PartitionState, leader: int, replicas: Sequence[int]) -> bool:
    return not set(state.replicas) <= set(replicas)


def _never_back(
    log_end_offset: int, high_watermark: int, epoch_start_offset: int, eligible: bool
) -> bool:
    return eligible and log_end_offset > epoch_start_offset and log_end_offset > high_watermark


def _last_replica_leads(
    state: PartitionState, acceptable: Collection[int], election: Election
) -> Elected:
    backwards = replace(state, replicas=state.replicas[::-1])
    return original("elect-leader")(backwards, acceptable, election)  # type: ignore[return-value]


def _in_sync_or_nothing(
    state: PartitionState, acceptable: Collection[int], election: Election
) -> Elected:
    alone = replace(state, elr=(), last_known_elr=())
    return original("elect-leader")(alone, acceptable, election)  # type: ignore[return-value]


def _once_eligible(
    state: PartitionState, isr: Sequence[int], min_isr: int, lost: Collection[int]
) -> tuple[int, ...]:
    return original("eligible-leader-replicas")(state, isr, min_isr, ())  # type: ignore[return-value]


def _nobody_is_eligible(
    state: PartitionState, isr: Sequence[int], min_isr: int, lost: Collection[int]
) -> tuple[int, ...]:
    return ()


def _any_leader_will_do(
    state: PartitionState, acceptable: Collection[int], election: Election
) -> Elected:
    kind = Election.ONLINE if election is Election.PREFERRED else election
    return original("elect-leader")(state, acceptable, kind)  # type: ignore[return-value]


def _preferred_without_candidates(
    state: PartitionState, acceptable: Collection[int], election: Election
) -> Elected:
    kinds = {Election.ONLINE: election, Election.UNCLEAN: election}
    return original("elect-leader")(state, acceptable, kinds[election])  # type: ignore[return-value]


def _moves_take_for_ever(state: PartitionState, isr: Sequence[int]) -> None:
    return None


def _moves_are_done_at_once(
    state: PartitionState, isr: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if not state.reassigning:
        return None
    staying = tuple(one for one in state.replicas if one not in state.removing)
    left = tuple(one for one in isr if one not in state.removing)
    return (staying, left) if left else None


def _appends_to_any_isr(acks: int, in_sync: int, min_in_sync: int) -> bool:
    return True


def _first_come_first_placed(
    brokers: Sequence[UsableBroker], partitions: int, replication_factor: int, rng: Rng
) -> tuple[tuple[int, ...], ...]:
    placed = original("place-replicas")(brokers, 1, replication_factor, rng)
    return tuple(placed) * partitions  # type: ignore[arg-type]


def _sessions_never_end(silent_ms: int, session_timeout_ms: int) -> bool:
    return False


def _stops_unheard(current: BrokerState, heartbeat: Heartbeat) -> BrokerState:
    deaf = replace(heartbeat, want_shut_down=False)
    return original("next-broker-state")(current, deaf)  # type: ignore[return-value]


MUTANTS = (
    Mutant(
        name="idle-brokers-stay-fenced",
        decision="next-broker-state",
        replace=_idle_brokers_stay_fenced,
        rules=("KFK-097",),
        why="a broker is let in once it leads something, and none can lead before it is let in",
    ),
    Mutant(
        name="serves-before-it-knows",
        decision="next-broker-state",
        replace=_serves_before_it_knows,
        rules=("KFK-149",),
        why="a broker is unfenced with its first heartbeat, whatever it has read of the metadata",
    ),
    Mutant(
        name="fenced-replicas-look-well",
        decision="visible-partition",
        replace=_fenced_replicas_look_well,
        rules=("KFK-170",),
        why="a replica is offline when its broker is forgotten, and not when it is fenced",
    ),
    Mutant(
        name="losses-go-unsaid",
        decision="elect-leader",
        replace=_losses_go_unsaid,
        rules=("KFK-130",),
        why="who is elected uncleanly leads an ISR that it is not in",
    ),
    Mutant(
        name="isr-keeps-who-went",
        decision="complete-reassignment",
        replace=_isr_keeps_who_went,
        rules=("KFK-131",),
        why="the ISR is not cut to the replicas that stay",
    ),
    Mutant(
        name="epochs-are-for-moves",
        decision="bump-leader-epoch",
        replace=_epochs_are_for_moves,
        rules=("KFK-132", "KFK-133"),
        why="a new leader goes on in the epoch of the old one",
    ),
    Mutant(
        name="epochs-are-for-leaders",
        decision="bump-leader-epoch",
        replace=_epochs_are_for_leaders,
        rules=("KFK-133",),
        why="a replica that was taken away is not fenced off",
    ),
    Mutant(
        name="epochs-are-for-changes",
        decision="bump-leader-epoch",
        replace=_epochs_are_for_changes,
        rules=("KFK-133",),
        why="clients look for a new leader whenever a follower comes or goes",
    ),
    Mutant(
        name="never-back",
        decision="may-join-isr",
        replace=_never_back,
        rules=("KFK-135",),
        why="who has exactly what is committed is taken for a laggard",
    ),
    Mutant(
        name="in-sync-or-nothing",
        decision="elect-leader",
        replace=_in_sync_or_nothing,
        rules=("KFK-136", "KFK-137"),
        why="eligible replicas are kept and never asked",
    ),
    Mutant(
        name="last-replica-leads",
        decision="elect-leader",
        replace=_last_replica_leads,
        rules=("KFK-137",),
        why="the order of replicas is read backwards",
    ),
    Mutant(
        name="once-eligible",
        decision="eligible-leader-replicas",
        replace=_once_eligible,
        rules=("KFK-137",),
        why="who comes back from an unclean shutdown is trusted with what it may have lost",
    ),
    Mutant(
        name="nobody-is-eligible",
        decision="eligible-leader-replicas",
        replace=_nobody_is_eligible,
        rules=("KFK-138",),
        why="who leaves an ISR that is too small is forgotten",
    ),
    Mutant(
        name="any-leader-will-do",
        decision="elect-leader",
        replace=_any_leader_will_do,
        rules=("KFK-139",),
        why="a preferred election keeps the leader there is",
    ),
    Mutant(
        name="preferred-without-candidates",
        decision="elect-leader",
        replace=_preferred_without_candidates,
        rules=("KFK-147",),
        why="one kind of election has no entry in a table",
    ),
    Mutant(
        name="moves-take-for-ever",
        decision="complete-reassignment",
        replace=_moves_take_for_ever,
        rules=("KFK-140",),
        why="replicas that are to go stay",
    ),
    Mutant(
        name="moves-are-done-at-once",
        decision="complete-reassignment",
        replace=_moves_are_done_at_once,
        rules=("KFK-141", "KFK-148"),
        why="the old replicas go before the new ones have anything",
    ),
    Mutant(
        name="appends-to-any-isr",
        decision="enough-replicas-to-append",
        replace=_appends_to_any_isr,
        rules=("KFK-142",),
        why="an append is made first, and waits for replicas that do not come",
    ),
    Mutant(
        name="first-come-first-placed",
        decision="place-replicas",
        replace=_first_come_first_placed,
        rules=("KFK-143",),
        why="every partition is placed like the first one",
    ),
    Mutant(
        name="sessions-never-end",
        decision="fence-broker",
        replace=_sessions_never_end,
        rules=("KFK-145",),
        why="a broker that died is waited for",
    ),
    Mutant(
        name="stops-unheard",
        decision="next-broker-state",
        replace=_stops_unheard,
        rules=("KFK-146",),
        why="a broker that is to stop keeps what it leads until it gives up waiting",
    ),
)
