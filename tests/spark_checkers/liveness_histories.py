"""Histories for the rules of recovery and of answers; `log_lines` says how they are written.

Whatever is asked in them is asked five times, for longer than the bound of 20 ns, unless told.
"""

from __future__ import annotations

CONVERGE = "1-40 phase converge bound=20"
PROGRESS = "1-40 phase progress bound=20"
AGREED = ("node=1 => ok 1 /3 isr=1,2", "node=2 => ok 1 /3 isr=1,2")
APART = ("node=1 => ok 1 /3 isr=1,2", "node=2 => ok 2 /4 isr=1,2")
LAGGING = ("node=1 => ok 1 /3 isr=1", "node=2 => ok 1 /3 isr=1")
ALONE = ("node=1 => ok 1 /3 isr=1", "node=2 => fail -")
REFUSED = "=> fail NOT_ENOUGH_REPLICAS"


def looks(*told: tuple[str, ...], every: int = 6) -> str:
    """Looks at all brokers, one after the other."""
    return "\n".join(
        f"{2 + every * number}-{3 + every * number} leader look={number + 1} {one}"
        for number, look in enumerate(told)
        for one in look
    )


def asked(*calls: str, every: int = 6) -> str:
    """Requests, one after the other; {n} is the number of each."""
    return "\n".join(
        f"{2 + every * number}-{3 + every * number} {call.format(n=number)}"
        for number, call in enumerate(calls)
    )


# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "KFK-090": (
        f"{CONVERGE}\n{looks(*[APART] * 5)}",
        f"{CONVERGE}\n{looks(*[APART] * 4, AGREED)}",
    ),
    "KFK-091": (
        f"{CONVERGE}\n{looks(*[LAGGING] * 5)}",
        f"{CONVERGE}\n{looks(*[LAGGING] * 4, AGREED)}",
    ),
    "KFK-092": (
        f"{PROGRESS}\n{asked(*['send a{n} ' + REFUSED] * 5)}",
        f"""{PROGRESS}
        {asked(*["send a{n} " + REFUSED] * 5)}
        32-33 send b => ok 0
        34-35 fetch 0 => ok b@0 hw=1
        """,
    ),
    "KFK-093": (
        f"{PROGRESS}\n{asked(*['fetch 0 => fail -'] * 5)}",
        f"{PROGRESS}\n{asked(*['fetch 0 => fail -'] * 5, 'fetch 0 => fail UNKNOWN_LEADER_EPOCH')}",
    ),
    "KFK-094": (
        f"{PROGRESS}\n{asked(*['send a{n} ' + REFUSED] * 5)}",
        f"{PROGRESS}\n{asked(*['send a{n} ' + REFUSED] * 5, 'send b => ok 0')}",
    ),
    "KFK-095": ("nodes broker-1 ended 1", "nodes broker-1 running"),
    "KFK-097": ("nodes broker-1 not-ready", "nodes broker-1 running"),
    "KFK-167": (
        f"0-50 fault cut broker-1 ↔ broker-3\n{PROGRESS}\n{asked(*['send a{n} => fail -'] * 5)}",
        f"""0-50 fault cut broker-1 ↔ broker-3
        {PROGRESS}
        {asked(*["send a{n} => fail -"] * 5)}
        32-33 send b => ok 0
        34-35 fetch 0 => ok b@0 hw=1
        """,
    ),
}

ALSO_BAD: dict[str, tuple[str, str]] = {
    "a broker that does not answer when all is healed": (
        "KFK-090",
        f"{CONVERGE}\n{looks(*[ALONE] * 5)}",
    ),
    "a cluster that agrees that nobody leads": (
        "KFK-090",
        f"{CONVERGE}\n{looks(*[('node=1 => ok -1 /3 isr=1', 'node=2 => ok -1 /3 isr=1')] * 5)}",
    ),
    "an assumption that is suspended is no fault": (
        "KFK-090",
        f"{CONVERGE}\n{looks(*[APART] * 5)}\n0-41 suspend one-leader",
    ),
    "an agreement that did not last": (
        "KFK-090",
        f"{CONVERGE}\n{looks(AGREED, *[APART] * 5)}",
    ),
    "an append that is acknowledged and never shown": (
        "KFK-092",
        f"{PROGRESS}\n2-3 send a => ok 0\n{asked(*['fetch 0 => fail -'] * 5)}",
    ),
    "one broker that leaves fetches unanswered while another does not": (
        "KFK-093",
        f"""{PROGRESS}
        {asked(*["fetch 0 node=2 => fail -"] * 5)}
        36-37 fetch 0 node=1 => ok hw=0
        """,
    ),
    "acks=all is refused where acks=1 is not": (
        "KFK-094",
        f"{PROGRESS}\n{asked(*['send a{n} ' + REFUSED] * 5)}\n36-37 send b acks=1 => ok 0",
    ),
    "an error that no client could have caused": (
        "KFK-094",
        f"{PROGRESS}\n{asked(*['latest => fail UNKNOWN_SERVER_ERROR'] * 5)}",
    ),
    "a batch that is tried again and always refused": (
        "KFK-094",
        f"""{PROGRESS}
        0-0 send a pid=7 seq=0 => info REQUEST_TIMED_OUT
        {asked(*["again a pid=7 seq=0 => fail OUT_OF_ORDER_SEQUENCE_NUMBER"] * 5)}
        """,
    ),
}

LEGAL: dict[str, str] = {
    "a wait that ended before its bound": (
        f"1-20 phase converge bound=40\n{looks(*[APART] * 5, every=2)}"
    ),
    "a lab that was not given the time to look": f"{CONVERGE}\n{looks(*[APART] * 4, every=8)}",
    "a cluster that is not healed yet": f"{CONVERGE}\n9-10 fault cut\n{looks(*[APART] * 5)}",
    "a broker that is down is missing among those in sync": f"{CONVERGE}\n{looks(ALONE, AGREED)}",
    "refused for less than the bound": (
        f"{CONVERGE}\n{asked(*['send a{n} ' + REFUSED] * 5, every=2)}\n30-31 fetch 0 => ok hw=0"
    ),
    "a batch that must be refused": (
        f"{CONVERGE}\n{asked(*['send a{n} => fail CORRUPT_MESSAGE'] * 5)}"
    ),
    "a follower that does not serve consumers": (
        f"{CONVERGE}\n{asked(*['fetch 0 node=2 => fail NOT_LEADER_OR_FOLLOWER'] * 5)}"
    ),
    "requests under a fault that nobody answers": (
        f"{PROGRESS}\n0-50 fault pause\n{asked(*['fetch 0 => fail -'] * 5)}"
    ),
    "a node that the lab ended": "nodes broker-1 ended-on-purpose",
}
