"""Histories for the rules of replicas; `log_lines` says how they are written.

A look asks brokers 1 to 3 unless told, in a phase that waits for its whole bound.
"""

from __future__ import annotations

RACKS = "1:a 2:b 3:c"
FENCED = "1:a 2:b 3:c!"


def look(
    at: int,
    told: str | dict[int, str],
    *,
    asked: tuple[int, ...] = (1, 2, 3),
    brokers: str = RACKS,
    phase: str = "settle bound=5 looks=5",
) -> str:
    """A phase with one look: what every broker says, or what each of them does."""
    said = told if isinstance(told, dict) else dict.fromkeys(asked, told)
    return "\n".join(
        [
            f"{at}-{at + 9} phase {phase}",
            *(f"{at + 1}-{at + 2} brokers look={at} node={one} => ok {brokers}" for one in said),
            *(
                f"{at + 3}-{at + 4} described look={at} node={one} => {text}"
                for one, text in said.items()
            ),
        ]
    )


WHOLE = "ok 1 /0 on=1,2,3 isr=1,2,3 elr= last="
PAIR = "ok 1 /0 on=1,2 isr=1,2 elr= last="

# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "KFK-130": (
        "described look=1 node=1 => ok 1 /0 on=1,2 isr=2",
        "described look=1 node=1 => ok -1 /0 on=1,2 isr=2",
    ),
    "KFK-131": (
        "described look=1 node=1 => ok 1 /0 on=1,2 isr=1,3",
        "described look=1 node=1 => ok 1 /0 on=1,2,3 isr=1,3 elr=2",
    ),
    "KFK-132": (
        """
        described look=1 node=1 => ok 1 /4 on=1,2 isr=1,2
        described look=2 node=2 => ok 2 /4 on=1,2 isr=1,2
        """,
        """
        described look=1 node=1 => ok 1 /4 on=1,2 isr=1,2
        described look=2 node=2 => ok 2 /5 on=1,2 isr=1,2
        """,
    ),
    "KFK-133": (
        f"{look(1, WHOLE)}\n{look(21, WHOLE.replace('/0', '/1'))}",
        f"{look(1, WHOLE)}\n{look(21, 'ok 1 /1 on=1,2 isr=1,2')}",
    ),
    "KFK-134": (
        look(1, {1: PAIR, 2: PAIR.replace("/0", "/1")}),
        look(1, {1: PAIR, 2: PAIR.replace("/0", "/1")}, phase="settle bound=5 looks=4"),
    ),
    "KFK-135": (
        look(1, "ok 1 /0 on=1,2 isr=1"),
        f"{look(2, 'ok 1 /0 on=1,2 isr=1')}\n1-20 fault kill broker-2",
    ),
    "KFK-136": (
        look(1, "ok -1 /0 on=1,2 isr= elr=2"),
        f"{look(2, 'ok -1 /0 on=1,2 isr= elr=2')}\n1-20 fault kill broker-2",
    ),
    "KFK-137": (
        f"""
        create min=1 manual => ok id=A
        {look(11, WHOLE)}
        21-50 fault kill broker-1
        {look(31, "ok 3 /1 on=1,2,3 isr=2,3")}
        """,
        f"""
        create min=1 manual => ok id=A
        {look(11, WHOLE)}
        21-50 fault kill broker-1
        {look(31, "ok 2 /1 on=1,2,3 isr=2,3")}
        """,
    ),
    "KFK-138": (
        f"""
        create min=2 manual => ok id=A
        {look(11, PAIR)}
        21-50 fault kill broker-2
        {look(31, "ok 1 /0 on=1,2 isr=1 elr=")}
        """,
        f"""
        create min=2 manual => ok id=A
        {look(11, PAIR)}
        21-50 fault kill broker-2
        {look(31, "ok 1 /0 on=1,2 isr=1 elr=2")}
        """,
    ),
    "KFK-139": (
        f"""
        {look(1, "ok 2 /0 on=1,2 isr=1,2")}
        12-13 elect preferred => fail PREFERRED_LEADER_NOT_AVAILABLE
        {look(21, "ok 2 /0 on=1,2 isr=1,2")}
        """,
        f"""
        {look(1, "ok 2 /0 on=1,2 isr=2")}
        12-13 elect preferred => fail PREFERRED_LEADER_NOT_AVAILABLE
        {look(21, "ok 2 /0 on=1,2 isr=2")}
        """,
    ),
    "KFK-140": (
        f"""
        {look(1, "ok 1 /0 on=1 isr=1")}
        12-13 reassign to=1,2 => ok
        {look(21, "ok 1 /0 on=1,2,3 isr=1,2,3")}
        """,
        f"""
        {look(1, "ok 1 /0 on=1 isr=1")}
        12-13 reassign to=1,2 => ok
        {look(21, "ok 1 /0 on=1,2 isr=1,2")}
        """,
    ),
    "KFK-141": (
        f"""
        {look(1, PAIR)}
        11-50 fault kill broker-3
        12-13 reassign to=1,3 => ok
        {look(21, "ok 1 /1 on=1,3 isr=1")}
        """,
        f"""
        {look(1, PAIR)}
        11-50 fault kill broker-3
        12-13 reassign to=1,3 => ok
        {look(21, "ok 1 /0 on=1,3,2 isr=1,2")}
        """,
    ),
    "KFK-142": (
        f"""
        create min=2 manual => ok id=A
        3-50 fault kill broker-2
        {look(11, "ok 1 /0 on=1,2 isr=1 elr=2")}
        22-23 send a => ok 0
        """,
        f"""
        create min=2 manual => ok id=A
        3-50 fault kill broker-2
        {look(11, "ok 1 /0 on=1,2 isr=1 elr=2")}
        22-23 send a acks=1 => ok 0
        """,
    ),
    "KFK-143": (
        f"create factor=2 => ok id=A\n{look(11, PAIR, brokers='1:a 2:a 3:b')}",
        f"create factor=2 manual => ok id=A\n{look(11, PAIR, brokers='1:a 2:a 3:b')}",
    ),
    "KFK-144": (
        f"create => ok id=A\ndrop => ok\n{look(11, PAIR + ' id=A')}",
        f"create => ok id=A\ndrop => ok\n{look(11, 'fail UNKNOWN_TOPIC_OR_PARTITION')}",
    ),
    "KFK-145": (
        f"1-20 fault kill broker-3\n{look(2, PAIR)}",
        f"1-20 fault kill broker-3\n{look(2, PAIR, brokers='1:a 2:b 3:c!')}",
    ),
    "KFK-146": (
        f"""
        {look(1, PAIR)}
        11-50 fault restart broker-1
        {look(21, PAIR, asked=(2, 3), phase="look")}
        """,
        f"""
        {look(1, PAIR)}
        11-50 fault restart broker-1
        {look(21, "ok 2 /1 on=1,2 isr=2", asked=(2, 3), phase="look")}
        """,
    ),
    "KFK-147": (
        "elect preferred => info UNKNOWN_SERVER_ERROR",
        "elect preferred => info NOT_CONTROLLER",
    ),
    "KFK-148": (
        f"""
        {look(1, PAIR)}
        11-50 fault kill broker-3
        12-13 reassign to=1,3 => ok
        14-15 list_moves => ok adding= removing=
        """,
        f"""
        {look(1, PAIR)}
        11-50 fault kill broker-3
        12-13 reassign to=1,3 => ok
        14-15 list_moves => ok adding=3 removing=2
        """,
    ),
    "KFK-149": (
        f"""
        create manual => ok id=A
        10-30 fault kill broker-3
        {look(11, PAIR, asked=(1,), brokers="1:a 2:b 3:c!", phase="look")}
        {look(41, {1: PAIR, 3: "fail UNKNOWN_TOPIC_OR_PARTITION"}, phase="look")}
        """,
        f"""
        create manual => ok id=A
        10-30 fault kill broker-3
        {look(11, PAIR, asked=(1,), brokers="1:a 2:b 3:c!", phase="look")}
        {look(41, {1: PAIR, 3: "fail UNKNOWN_TOPIC_OR_PARTITION"}, brokers=FENCED, phase="look")}
        """,
    ),
    "KFK-170": (
        f"1-20 fault kill broker-2\n{look(2, PAIR, asked=(1,))}",
        f"1-20 fault kill broker-2\n{look(2, PAIR + ' off=2', asked=(1,))}",
    ),
    "KFK-169": (
        """
        1-30 phase watch
        2-3 described look=1 node=1 => ok 1 /0 on=1,2 isr=1,2
        12-13 described look=2 node=1 => ok 1 /0 on=1,2 isr=1
        """,
        """
        1-30 phase watch
        2-3 described look=1 node=1 => ok 1 /0 on=1,2 isr=1,2
        5-20 fault cut broker-1 ↔ broker-2
        12-13 described look=2 node=1 => ok 1 /0 on=1,2 isr=1
        """,
    ),
    "KFK-168": (
        f"0-50 fault kill broker-3\n{look(2, WHOLE, asked=(1, 2), brokers='1:a 2:b 3:c!')}",
        f"0-4 fault kill broker-3\n{look(2, WHOLE, asked=(1, 2), brokers='1:a 2:b 3:c!')}",
    ),
}

ALSO_BAD: dict[str, tuple[str, str]] = {
    "a replica goes while one of the fewer that stay is down": (
        "KFK-141",
        f"""
        {look(1, WHOLE)}
        11-50 fault kill broker-3
        12-13 reassign to=1,3 => ok
        {look(21, "ok 1 /1 on=1,3 isr=1")}
        """,
    ),
    "a fenced broker that is cut off from the controller joins": (
        "KFK-168",
        f"""
        0-50 fault cut broker-3 ↔ controller
        {look(2, WHOLE, brokers="1:a 2:b 3:c!", phase="look")}
        """,
    ),
    "an eligible replica that was lost leads": (
        "KFK-137",
        f"""
        create min=1 manual => ok id=A
        1-30 fault kill broker-2
        2-60 fault kill broker-1
        {look(11, "ok -1 /2 on=1,2 isr= elr=1,2 last=1")}
        {look(41, "ok 2 /3 on=1,2 isr=2 elr=1")}
        """,
    ),
    "an eligible replica that came back without its log": (
        "KFK-138",
        f"""
        create min=2 manual => ok id=A
        1-30 fault kill broker-2
        2-60 fault kill broker-1
        {look(11, "ok -1 /2 on=1,2 isr= elr=1,2 last=1")}
        {look(41, "ok -1 /2 on=1,2 isr= elr=1,2 last=1")}
        """,
    ),
    "a replica that is eligible while the ISR is large enough": (
        "KFK-138",
        f"""
        create min=1 manual => ok id=A
        {look(11, PAIR)}
        21-50 fault kill broker-2
        {look(31, "ok 1 /0 on=1,2 isr=1 elr=2")}
        """,
    ),
    "an epoch that stays when a replica goes": (
        "KFK-133",
        f"{look(1, WHOLE)}\n{look(21, PAIR)}",
    ),
    "an append that is refused though enough are in sync": (
        "KFK-142",
        f"""
        create min=2 manual => ok id=A
        {look(11, PAIR)}
        22-23 send a => fail NOT_ENOUGH_REPLICAS
        """,
    ),
    "an append that waits for replicas though too few are in sync": (
        "KFK-142",
        f"""
        create min=2 manual => ok id=A
        3-50 fault kill broker-2
        {look(11, "ok 1 /0 on=1,2 isr=1 elr=2")}
        22-23 send a => info REQUEST_TIMED_OUT
        """,
    ),
    "a preferred election that is answered and not held": (
        "KFK-139",
        f"""
        {look(1, "ok 2 /0 on=1,2 isr=1,2")}
        12-13 elect preferred => ok
        {look(21, "ok 2 /0 on=1,2 isr=1,2")}
        """,
    ),
    "a reassignment that was called off and went on": (
        "KFK-140",
        f"""
        {look(1, "ok 1 /0 on=1 isr=1")}
        11-90 fault kill broker-2
        12-13 reassign to=1,2 => ok
        {look(21, "ok 1 /0 on=1,2 isr=1")}
        32-33 reassign to=none => ok
        {look(41, "ok 1 /0 on=1,2 isr=1")}
        """,
    ),
    "all first replicas on one broker": (
        "KFK-143",
        f"""
        create factor=2 parts=3 => ok id=A
        {look(11, PAIR)}
        14-15 described look=11 node=1 p=1 => ok 1 /0 on=1,3 isr=1,3
        14-15 described look=11 node=1 p=2 => ok 1 /0 on=1,2 isr=1,2
        """,
    ),
    "a topic under the id of another": (
        "KFK-144",
        f"create => ok id=A\n{look(11, PAIR + ' id=B')}",
    ),
}

ELIGIBLE = "ok -1 /2 on=1,2 isr= elr=1,2 last=1 id=A"
LAST_KNOWN = "ok -1 /2 on=1,2 isr= elr=1 last=1 id=A"

LEGAL: dict[str, str] = {
    "an append to a leader that gave up leading": f"""
        create min=2 manual => ok id=A
        {look(11, PAIR + " id=A")}
        22-23 send a => info NOT_LEADER_OR_FOLLOWER
        """,
    "an append that waits too long for a replica in sync": f"""
        create min=2 manual => ok id=A
        {look(11, PAIR + " id=A")}
        22-23 send a => info REQUEST_TIMED_OUT
        """,
    "a leader that came back, two epochs later": f"""
        {look(1, WHOLE)}
        {look(21, WHOLE.replace("/0", "/2"))}
        """,
    "who was stopped in good order leads from the ELR": f"""
        create min=1 manual => ok id=A
        3-30 fault restart broker-2
        4-60 fault kill broker-1
        {look(11, f"{ELIGIBLE} off=1,2", asked=(3,), brokers="1:a! 2:b! 3:c")}
        {look(41, "ok 2 /3 on=1,2 isr=2 off=1 id=A", asked=(2, 3), brokers="1:a! 2:b 3:c")}
        """,
    "the last known leader comes back with nothing but its log": f"""
        create min=1 manual => ok id=A
        3-30 fault kill broker-1
        {look(11, f"{LAST_KNOWN} off=1", asked=(2, 3), brokers="1:a! 2:b 3:c")}
        {look(41, "ok 1 /3 on=1,2 isr=1,2 elr= last= id=A")}
        """,
}
