"""What readers of committed records are shown of transactions in the remote tier."""

from __future__ import annotations

from conformance.catalogue.kip_405.fragments import as_in, tier_rule

TRANSACTIONS = "Transactional support"

RULES = (
    tier_rule(
        id="TS-200",
        section=TRANSACTIONS,
        lines=(658,),
        sentence="No replica shows an aborted transaction of any tier to read_committed readers.",
        **as_in("KFK-081"),
    ),
    tier_rule(
        id="TS-201",
        section=TRANSACTIONS,
        lines=(658,),
        sentence="A committed transaction is seen whole, whichever tiers and replicas have it.",
        **as_in("KFK-080"),
    ),
    tier_rule(
        id="TS-202",
        section=TRANSACTIONS,
        lines=(658,),
        sentence="No record of an open transaction is shown to read_committed readers by any tier.",
        **as_in("KFK-082"),
    ),
)
