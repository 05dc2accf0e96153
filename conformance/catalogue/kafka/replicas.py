"""Replicas, their leaders and what brokers tell about them.

The lab creates topics and asks for reassignments and elections; faults take brokers away and bring
them back. After each change it waits until the cluster has settled (`FORMAT.md`, phases) and asks
every broker that is up. Most rules are about such a last look, or about two that follow each other:
what happened in between is known from requests and faults. A look counts where all is as it has to
be, or where the lab kept looking for the whole bound, five times at least.

A broker is *down* where a fault kept it from answering for the whole phase, *up* where none touched
it. How leaders are chosen and who stays eligible is KIP-966 and the KRaft controller.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import PROTOCOL, REPLICATION, UNBROKEN, kafka_rule
from harness.rules import Holds

REPLICAS = "Replicas"
CONTROLLER = "documentation, Operations: KRaft"
ELR = "KIP-966: Eligible Leader Replicas"
REASSIGNMENT = "KIP-455: reassignment"
_BOUND = "the bound is {bound_s} s"


def _in_time(good: str) -> str:
    return f"({good}) OR whole"


RULES = (
    kafka_rule(
        id="KFK-130",
        section=REPLICAS,
        source=REPLICATION,
        sentence="A leader is in sync.",
        judge=Holds(
            table="partitions_told",
            when="type = 'ok' AND leader <> -1",
            holds="isr LIKE '%,' || CAST(leader AS STRING) || ',%'",
            show=("node", "leader", "leader_epoch", "isr"),
            words=("broker {node} names leader {leader} in epoch {leader_epoch}", "ISR {isr}"),
        ),
        hint="an election outside of the ISR has to make the new leader the whole ISR",
    ),
    kafka_rule(
        id="KFK-131",
        section=REPLICAS,
        source=ELR,
        sentence="Each member of ISR and ELR is one replica, and in one of the two.",
        judge=Holds(
            table="members_told",
            when="place IS NOT NULL OR in_isr OR in_elr OR leads",
            holds="place IS NOT NULL AND times = 1 AND NOT (in_isr AND in_elr)",
            show=("node", "broker", "place", "times", "in_isr", "in_elr"),
            words=(
                "broker {node} names broker {broker} {times} times",
                "as replica {place}",
                "in the ISR: {in_isr}, in the ELR: {in_elr}",
            ),
        ),
        hint="who leaves the replicas leaves ISR and ELR in the same change",
    ),
    kafka_rule(
        id="KFK-132",
        section=REPLICAS,
        source=REPLICATION,
        sentence="All brokers at all times name one leader in one epoch.",
        judge=Holds(
            table="epochs_told",
            when="TRUE",
            holds="other_leader IS NULL",
            times="told",
            show=("leader_epoch", "leader", "other_leader"),
            words=("epoch {leader_epoch} has leader {leader}", "and leader {other_leader}"),
        ),
        hint="the epoch has to rise with every new leader",
    ),
    kafka_rule(
        id="KFK-133",
        section=REPLICAS,
        source=CONTROLLER,
        sentence="The leader epoch rises if and only if the leader changes or a replica goes.",
        judge=Holds(
            table="leaders_chosen",
            when="before_epoch IS NOT NULL",
            holds="CASE WHEN leader <> before_leader OR removed IS NOT NULL "
            "THEN leader_epoch > before_epoch "
            # A leader that lost and regained its leadership unseen has had two more epochs.
            "ELSE leader_epoch = before_epoch OR leader_epoch > before_epoch + 1 END",
            show=("before_leader", "before_epoch", "leader", "leader_epoch", "removed"),
            words=(
                "leader {before_leader} in epoch {before_epoch}",
                "then leader {leader} in epoch {leader_epoch}",
                "replica {removed} was taken away",
            ),
        ),
        hint="an ISR that shrinks or grows needs no new epoch",
    ),
    kafka_rule(
        id="KFK-134",
        section=REPLICAS,
        source=CONTROLLER,
        sentence="Within the bound, all brokers that are up say the same of a partition.",
        judge=Holds(
            table="settled_partitions",
            when=_in_time("agreed"),
            holds="agreed",
            show=("teller", "state", "other_state", "bound_s"),
            words=("broker {teller} says {state}", "and another {other_state}", _BOUND),
        ),
        hint="a broker that does not follow the metadata log any more?",
        unproven=UNBROKEN,
    ),
    kafka_rule(
        id="KFK-135",
        section=REPLICAS,
        source=REPLICATION,
        sentence="Within the bound, an ISR with a leader is all replicas that are up.",
        judge=Holds(
            table="settled_groups",
            when=f"unclear = 0 AND ({_in_time('lacks IS NULL AND stale IS NULL')})",
            # Without eligible leader replicas the last member stays, and leads no more.
            holds="(leader < 0 AND (stale IS NULL OR isr_count = 1)) "
            "OR (leader >= 0 AND lacks IS NULL AND stale IS NULL)",
            show=("leader", "isr", "lacks", "stale", "bound_s"),
            words=(
                "leader {leader}",
                "ISR {isr}",
                "broker {lacks} is up and not in it",
                "broker {stale} is down and in it",
                _BOUND,
            ),
        ),
        hint="does the leader propose who joins and leaves? Is a silent broker fenced?",
    ),
    kafka_rule(
        id="KFK-136",
        section=REPLICAS,
        source=ELR,
        sentence="Within the bound, a partition with an electable replica that is up has a leader.",
        judge=Holds(
            table="settled_groups",
            when="unclear = 0 AND (leader >= 0 OR up_isr > 0 OR (isr_count = 0 AND up_elr > 0) "
            "OR (unclean AND up_replicas > 0)) "
            "AND (whole OR (leader >= 0 AND led_by_down IS NULL))",
            holds="leader >= 0 AND led_by_down IS NULL",
            show=("leader", "isr", "elr", "up_replicas", "bound_s"),
            words=(
                "leader {leader}",
                "ISR {isr}",
                "ELR {elr}",
                "{up_replicas} replicas are up",
                _BOUND,
            ),
        ),
        hint="an election is due when a leader goes, and when who may lead comes back",
    ),
    kafka_rule(
        id="KFK-137",
        section=REPLICAS,
        source=ELR,
        sentence="The next leader is the first replica in the ISR, or in the ELR if that is empty.",
        judge=Holds(
            table="leaders_chosen",
            when="moves = 0 AND unclear = 0 AND unsure = 0 AND unclean = FALSE AND NOT leader_up "
            "AND replicas = before_replicas "
            "AND (whole OR coalesce(leader_place, -1) = coalesce(due_place, -1) OR leader >= 0)",
            holds="coalesce(leader_place, -1) = coalesce(due_place, -1)",
            show=("leader", "before_leader", "replicas", "before_isr", "before_elr", "due_place"),
            words=(
                "leader {before_leader} is followed by {leader}",
                "replicas {replicas}",
                "ISR {before_isr}",
                "ELR {before_elr}",
                "replica {due_place}, from 0, is due",
            ),
        ),
        hint="who died without a word may have lost the end of its log: it leaves the ELR",
    ),
    kafka_rule(
        id="KFK-138",
        section=REPLICAS,
        source=ELR,
        sentence="Who leaves an ISR below its minimum stays eligible as long as its log is safe.",
        judge=Holds(
            table="member_changes",
            when="moves = 0 AND settings = 0 AND least_min IS NOT NULL AND (in_elr OR events = 1 "
            "AND isr_count < least_min AND NOT in_isr AND (was_in_isr AND fell "
            "OR was_in_elr AND down AND NOT fell))",
            holds="in_elr AND isr_count < least_min AND (was_in_isr OR was_in_elr) AND NOT lost",
            show=("broker", "isr", "elr", "before_isr", "before_elr", "least_min", "lost"),
            words=(
                "broker {broker}",
                "ISR {before_isr}, ELR {before_elr}",
                "then ISR {isr}, ELR {elr}",
                "minimum {least_min}",
                "it came back without its log being safe: {lost}",
            ),
        ),
        hint="an ELR is empty while the ISR has as many members as min.insync.replicas",
    ),
    kafka_rule(
        id="KFK-139",
        requests=("elect_leaders",),
        section=REPLICAS,
        source=f"{PROTOCOL}, ElectLeaders",
        sentence="A preferred election elects the first replica if it is in sync.",
        judge=Holds(
            table="elections_asked",
            when="TRUE",
            holds="error = due AND (due_leader IS NULL OR led_by = due_leader)",
            show=("election", "error", "due", "leader", "led_by", "replicas", "isr"),
            words=(
                "an election ({election}) is answered {error}, not {due}",
                "led by {leader}, then by {led_by}",
                "replicas {replicas}",
                "ISR {isr}",
            ),
        ),
        hint="who asks for an election that is not needed, or cannot be held, hears so",
    ),
    kafka_rule(
        id="KFK-140",
        section=REPLICAS,
        source=REASSIGNMENT,
        sentence="Within the bound, a reassignment to brokers that are up is complete.",
        judge=Holds(
            table="reassignments_asked",
            when=f"due IS NOT NULL AND ({_in_time('replicas = due')})",
            holds="replicas = due",
            show=("asked_replicas", "before_replicas", "replicas", "due", "bound_s"),
            words=(
                "replicas {replicas}, not {due}",
                "before {before_replicas}",
                "asked for {asked_replicas}",
                _BOUND,
            ),
        ),
        hint="it is complete once all that are added are in the ISR; called off, all is as before",
    ),
    kafka_rule(
        id="KFK-141",
        section=REPLICAS,
        source=REASSIGNMENT,
        sentence="A replica goes only after those that come, or fewer that stay, are in sync.",
        judge=Holds(
            table="reassignments_asked",
            when="held_by IS NOT NULL",
            holds="gone IS NULL",
            show=("asked_replicas", "before_replicas", "replicas", "held_by", "gone"),
            words=(
                "replica {gone} is gone while broker {held_by} is down",
                "replicas {replicas}",
                "before {before_replicas}",
                "asked for {asked_replicas}",
            ),
        ),
        hint="as long as a replica that is added is down, the reassignment is under way",
    ),
    kafka_rule(
        id="KFK-142",
        section=REPLICAS,
        source="documentation, Topic configs: min.insync.replicas",
        sentence="An acks=all append is refused if and only if too few replicas are in sync.",
        judge=Holds(
            table="appends_settled",
            # Who leads no longer is not asked for replicas, and a slow one lets an append time out.
            when="acks IN (-1, 1) AND error <> 'NOT_LEADER_OR_FOLLOWER'"
            " AND NOT (acks = -1 AND enough AND error = 'REQUEST_TIMED_OUT')",
            holds="CASE WHEN acks = 1 OR enough THEN type = 'ok' "
            "ELSE error = 'NOT_ENOUGH_REPLICAS' END",
            show=("acks", "error", "isr", "least_min", "node"),
            words=(
                "an append with acks={acks} is answered {error} by broker {node}",
                "ISR {isr}",
                "minimum {least_min}",
            ),
        ),
        hint="the ISR that counts is the one the controller has written down",
    ),
    kafka_rule(
        id="KFK-143",
        section=REPLICAS,
        source="KIP-36 and KIP-631: replica placement",
        sentence="Replicas are placed on as many racks as can be, and first replicas evenly.",
        judge=Holds(
            table="replicas_placed",
            when="TRUE",
            holds="replica_count = replication_factor "
            "AND racks = CASE WHEN all_racks < replication_factor THEN all_racks "
            "ELSE CASE WHEN all_racks = 0 THEN 0 ELSE replication_factor END END "
            "AND (all_racks NOT IN (0, brokers) OR most_led - least_led <= 1)",
            show=("replicas", "replication_factor", "racks", "all_racks", "most_led", "least_led"),
            words=(
                "replicas {replicas} on {racks} of {all_racks} racks",
                "{replication_factor} were asked for",
                "brokers come first {least_led} to {most_led} times",
            ),
        ),
        hint="partitions begin one rack further each",
    ),
    kafka_rule(
        id="KFK-144",
        section=REPLICAS,
        source="KIP-516: topic identifiers",
        sentence="Within the bound, a topic is known by its id, and not once it is deleted.",
        judge=Holds(
            table="topics_settled",
            when="whole OR (gone AND error = 'UNKNOWN_TOPIC_OR_PARTITION') "
            "OR (NOT gone AND type = 'ok')",
            holds="CASE WHEN gone THEN error = 'UNKNOWN_TOPIC_OR_PARTITION' "
            "ELSE type = 'ok' AND (answered_id IS NULL OR topic_id = answered_id) END",
            show=("node", "gone", "type", "error", "topic_id", "answered_id", "bound_s"),
            words=(
                "broker {node} answers {error}",
                "deleted: {gone}",
                "with id {topic_id}",
                "created with {answered_id}",
                _BOUND,
            ),
        ),
        hint="all partitions of a topic come and go in one change",
        unproven=UNBROKEN,
    ),
    kafka_rule(
        id="KFK-145",
        section=REPLICAS,
        source=CONTROLLER,
        sentence="Within the bound, a broker is fenced if and only if it is down.",
        judge=Holds(
            table="brokers_settled",
            when="(up OR down) AND (whole OR fenced = down)",
            holds="fenced = down",
            show=("node", "broker", "fenced", "down", "bound_s"),
            words=(
                "broker {node} says of broker {broker} that it is fenced: {fenced}",
                "down: {down}",
                _BOUND,
            ),
        ),
        hint="a session ends when no heartbeat came; a broker is unfenced once it has caught up",
    ),
    kafka_rule(
        id="KFK-146",
        section=REPLICAS,
        source="documentation, Operations: graceful shutdown",
        sentence="A broker that has stopped in good order leads nothing that others can lead.",
        judge=Holds(
            table="leaders_moved",
            when="led AND others > 0",
            holds="leader >= 0 AND leader <> broker",
            show=("node", "broker", "leader", "isr", "others"),
            words=(
                "broker {broker} has stopped, and broker {node} names leader {leader}",
                "ISR {isr}",
                "{others} others were in sync",
            ),
        ),
        hint="it goes once it leads nothing and all have heard who leads in its place",
    ),
    kafka_rule(
        id="KFK-147",
        section=REPLICAS,
        source=f"{PROTOCOL}, error codes",
        sentence="While no fault is in force, a request about topics or leaders is decided.",
        judge=Holds(
            table="admin_in_peace",
            when="TRUE",
            holds="error <> 'UNKNOWN_SERVER_ERROR'",
            show=("f", "node", "error"),
            words=("{f} at broker {node} is not decided", "the answer is {error}"),
        ),
        hint="the controller failed while it decided: what does its log say?",
    ),
    kafka_rule(
        id="KFK-148",
        section=REPLICAS,
        source=REASSIGNMENT,
        sentence="A reassignment is listed while a replica that it adds is down.",
        judge=Holds(
            table="reassignments_listed",
            when="TRUE",
            holds="adding LIKE '%,' || CAST(held_by AS STRING) || ',%'",
            show=("asked_replicas", "before_replicas", "adding", "removing", "held_by"),
            words=(
                "asked for {asked_replicas} in the place of {before_replicas}",
                "told to add {adding} and to remove {removing}",
                "broker {held_by} is down",
            ),
        ),
        hint="it is under way until all that are added are in sync",
    ),
)
