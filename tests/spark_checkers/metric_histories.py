"""Histories for the rules of metrics; `log_lines` says how they are written.

Brokers 1 and 2 have the one partition that there is; broker 1 leads it. Metrics are read at the end
of a phase that waits for its whole bound.
"""

from __future__ import annotations

from typing import Any

from replica_histories import PAIR, look

LACKING = "ok 1 /0 on=1,2 isr=1 elr= last="
ELSEWHERE = "ok 2 /1 on=1,2 isr=1,2 elr= last="
ALL_UP = "controller:active=3,fenced=0,offline=0,all=1"
TWO_DOWN = "1:a 2:b! 3:c"
QUICK = "settle bound=50 looks=2"
COUNTED = "broker-1:has=1,leads=1,lacks=0,short=0"
SHORT = "broker-1:has=1,leads=1,lacks=1,short=1"


def measured(at: int, told: str, *metrics: str, **how: Any) -> str:
    """A look, and what the nodes count at its end."""
    return f"{look(at, told, **how)}\n{at + 5}-{at + 6} metrics {' '.join(metrics)}"


def expanded(count: int) -> str:
    return f"""
        {measured(1, LACKING, "broker-1:has=1,leads=1,lacks=1,expands=4")}
        {measured(21, PAIR, f"broker-1:has=1,leads=1,lacks=0,expands={count}")}
        """


def shrunk(count: int, *, also: str = "") -> str:
    """Broker 2 is out of the ISR for a while, and back in it at the end."""
    counted = "broker-1:has=1,leads=1,lacks=0,short=0,shrinks="
    return f"""
        {measured(1, PAIR, f"{counted}4")}
        {also}
        {look(21, LACKING, phase="look looks=1")}
        {measured(41, PAIR, f"{counted}{count}")}
        """


# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "KFK-210": (
        measured(1, PAIR, "broker-1:has=1,leads=1", "broker-2:has=1,leads=1"),
        measured(1, PAIR, "broker-1:has=1,leads=1", "broker-2:has=1,leads=0"),
    ),
    "KFK-211": (
        measured(1, LACKING, "broker-1:has=1,leads=1,lacks=0"),
        measured(1, LACKING, "broker-1:has=1,leads=1,lacks=1", "broker-2:has=1,leads=0,lacks=0"),
    ),
    "KFK-212": (
        measured(
            1,
            "ok -1 /1 on=3 isr= elr=3 last=3",
            "controller:active=3,fenced=0,offline=0,all=1",
            brokers="1:a 2:b 3:c!",
        ),
        measured(
            1,
            "ok -1 /1 on=3 isr= elr=3 last=3",
            "controller:active=2,fenced=1,offline=1,all=1",
            brokers="1:a 2:b 3:c!",
        ),
    ),
    "KFK-213": (expanded(4), expanded(5)),
    "KFK-214": (
        "create min=1 manual => ok id=A\n" + measured(11, LACKING, "broker-1:short=1"),
        "create min=2 manual => ok id=A\n" + measured(11, LACKING, "broker-1:short=1"),
    ),
    "KFK-215": (shrunk(4), shrunk(5)),
}

ALSO_BAD: dict[str, tuple[str, str]] = {
    "a broker counts partitions that it does not have": (
        "KFK-210",
        measured(1, PAIR, "broker-3:has=1,leads=0"),
    ),
    "a leader counts what lacks nothing": (
        "KFK-211",
        measured(1, PAIR, "broker-1:has=1,leads=1,lacks=1"),
    ),
    "a leader does not count what lacks replicas that producers wait for": (
        "KFK-214",
        "create min=2 manual => ok id=A\n" + measured(11, LACKING, "broker-1:short=0"),
    ),
    "the controller counts partitions that there are not": (
        "KFK-212",
        measured(1, PAIR, "controller:active=3,fenced=0,offline=0,all=2"),
    ),
}

LEGAL: dict[str, str] = {
    "a minimum that the lab did not set may be any": f"""
        0-50 fault kill broker-2
        {measured(11, f"{LACKING} off=2", SHORT, asked=(1, 3), brokers=TWO_DOWN)}
        """,
    "a minimum above the number of replicas is that number": f"""
        create min=9 manual => ok id=A
        {measured(11, f"{PAIR} id=A", COUNTED)}
        """,
    "metrics that were not read for the whole bound": measured(
        1, PAIR, "broker-1:has=9,leads=9,lacks=9", phase=QUICK
    ),
    "an ISR that the controller may have made smaller": shrunk(4, also="12-13 fault kill broker-2"),
    "an ISR that shrank while a broker was told to be fenced": shrunk(
        4, also=look(12, PAIR, brokers="1:a 2:b! 3:c", phase="look looks=1")
    ),
    "an ISR that grew under another leader": f"""
        {measured(1, LACKING, "broker-1:has=1,leads=1,lacks=1,expands=4,short=0", phase=QUICK)}
        {measured(21, ELSEWHERE, "broker-1:has=1,leads=0,lacks=0,expands=4,short=0", ALL_UP)}
        """,
    "a replica on its way in does not count as lacking": f"""
        0-50 fault kill broker-2
        1-2 reassign to=1,2 => ok
        {measured(11, f"{LACKING} off=2", COUNTED, asked=(1, 3), brokers=TWO_DOWN)}
        """,
    "a leader that was killed counts anew": f"""
        {measured(1, LACKING, "broker-1:has=1,leads=1,lacks=1,expands=4,short=0", phase=QUICK)}
        12-13 fault kill broker-1
        {measured(21, PAIR, "broker-1:has=1,leads=1,lacks=0,expands=1,short=0")}
        """,
}

_BOUND = "the bound is 5e-09 s"
WORDS: dict[str, str] = {
    "KFK-210": (
        "op 0: broker-2 counts 1 partitions, and has 1; it counts 1 that it leads, and leads 0; "
        f"{_BOUND}"
    ),
    "KFK-211": (
        "op 0: broker-1 counts 0 under-replicated partitions; it leads 1; "
        f"1 of them were never reassigned; {_BOUND}"
    ),
    "KFK-212": (
        "op 0: the controller counts 3 brokers active, and 2 are; 0 fenced, and 1 are; "
        f"0 partitions without a leader, and 1 are; 1 in all, and there are 1; {_BOUND}"
    ),
    "KFK-215": (
        "op 29: broker-1 counted 4 shrinks and then 4; 1 ISRs of its partitions shrank in between"
    ),
    "KFK-214": (
        "op 2: broker-1 counts 1 partitions below min.insync.replicas; "
        f"0 that it leads are, and 0 may be; {_BOUND}"
    ),
    "KFK-213": (
        "op 15: broker-1 counted 4 expansions and then 4; 1 ISRs of its partitions grew in between"
    ),
}
