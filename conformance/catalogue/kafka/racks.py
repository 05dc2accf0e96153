"""Readers that say in which rack they are, where brokers look for replicas near them (KIP-392).

Without `replica.selector.class` no leader sends a reader anywhere, and nothing is judged: the rules
rest on what a broker said of its settings. Not promised, hence not judged: which of several in-sync
replicas in a rack is named, and that one is named which is about to leave the ISR, or has just
joined it.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import LED, kafka_rule
from harness.rules import Holds

RACKS = "Racks"
TRIES = 3  # after the first one it is known how far all in-sync replicas are

RULES = (
    kafka_rule(
        id="KFK-190",
        section=RACKS,
        source="KIP-392",
        sentence="A reader is sent to another replica only in its own rack, and not from there.",
        judge=Holds(
            table="fetches_by_rack",
            when="sent_to_rack IS NOT NULL",
            holds="sent_to_rack = rack AND node_rack <> rack",
            show=("node", "rack", "node_rack", "sent_to", "sent_to_rack"),
            words=(
                "node {node} in rack {node_rack} is asked by a reader in {rack}",
                "it names node {sent_to}",
                "which is in rack {sent_to_rack}",
            ),
        ),
        hint="the rack of the reader counts, and the leader's own before all others",
    ),
    kafka_rule(
        id="KFK-191",
        section=RACKS,
        source="KIP-392",
        sentence="A reader is sent to an in-sync replica in its rack, or served if there is none.",
        assumes=(*LED, "replica-up"),
        judge=Holds(
            table="racks_named",
            when=f"tries >= {TRIES} AND (node_rack = rack OR near IS NOT NULL OR NOT there)",
            holds="CASE WHEN node_rack <> rack AND near IS NOT NULL THEN sent > 0"
            " ELSE served > 0 END",
            show=("node", "rack", "node_rack", "near", "tries", "sent", "served", "last_error"),
            words=(
                "node {node} in rack {node_rack} is asked {tries} times from {rack}",
                "node {near} is in sync there",
                "it names another replica {sent} times",
                "it serves {served} times",
                "and answers {last_error}",
            ),
        ),
        hint="replica.selector.class; in-sync replicas that have the offset are looked at",
    ),
)
