"""What clients of the control plane can do, and when.

A client has one operation open at most. Where it stands is one of a few states, and which verb is
legal in which state is a table; the vocabulary, which reads steps and carries them out, and the
generator ask the same table, so a text that parses can be played and a generated one parses.

    idle ──begin──► sent ──end──► idle          any of them ──pause──► the same, paused
    idle ──hold───► held ──release──► idle      sent, held  ──kill───► idle

The pseudo-client `lab` does things to the control plane itself; its table has a row per outage.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from harness.steps.step import LAB, Step


class Takes(Enum):
    """Whether a verb is followed by a call."""

    A_CALL = "a call"
    NOTHING = "nothing"
    MAYBE_A_CALL = "a call when nothing is held"
    LOGS = "the logs to create first (t=, p=)"


CLIENT_VERBS: Mapping[str, Takes] = MappingProxyType(
    {
        "call": Takes.A_CALL,
        "begin": Takes.A_CALL,
        "end": Takes.NOTHING,
        "hold": Takes.A_CALL,
        "step": Takes.NOTHING,
        "release": Takes.NOTHING,
        "lose": Takes.MAYBE_A_CALL,
        "drop": Takes.MAYBE_A_CALL,
        "kill": Takes.NOTHING,
        "pause": Takes.NOTHING,
        "resume": Takes.NOTHING,
    }
)

LAB_VERBS: Mapping[str, Takes] = MappingProxyType(
    {
        "refuse": Takes.NOTHING,
        "heal": Takes.NOTHING,
        "break": Takes.NOTHING,
        "mend": Takes.NOTHING,
        "disturb": Takes.NOTHING,
        "settle": Takes.NOTHING,
        "probe": Takes.NOTHING,
        "upgrade": Takes.LOGS,
    }
)

ALL_VERBS = frozenset(CLIENT_VERBS) | frozenset(LAB_VERBS)


class Stand(Enum):
    """Where a client stands between two steps."""

    IDLE = "idle"
    SENT = "sent"
    HELD = "held"
    IDLE_PAUSED = "idle, paused"
    SENT_PAUSED = "sent, paused"
    HELD_PAUSED = "held, paused"


# A paused agent neither answers nor reads, so whatever waits for it is illegal: it could only
# time out, and a timeout says less than the verb that was meant.
NEXT: Mapping[Stand, Mapping[str, Stand]] = MappingProxyType(
    {
        Stand.IDLE: {
            "call": Stand.IDLE,
            "begin": Stand.SENT,
            "hold": Stand.HELD,
            "lose": Stand.IDLE,
            "drop": Stand.IDLE,
            "pause": Stand.IDLE_PAUSED,
        },
        Stand.SENT: {"end": Stand.IDLE, "kill": Stand.IDLE, "pause": Stand.SENT_PAUSED},
        Stand.HELD: {
            "step": Stand.HELD,
            "release": Stand.IDLE,
            "lose": Stand.IDLE,
            "drop": Stand.IDLE,
            "kill": Stand.IDLE,
            "pause": Stand.HELD_PAUSED,
        },
        Stand.IDLE_PAUSED: {"begin": Stand.SENT_PAUSED, "resume": Stand.IDLE},
        Stand.SENT_PAUSED: {"resume": Stand.SENT, "kill": Stand.IDLE},
        Stand.HELD_PAUSED: {"resume": Stand.HELD, "kill": Stand.IDLE},
    }
)

# What each outage of the control plane is opened and closed by.
OUTAGES: Mapping[str, str] = MappingProxyType(
    {"refuse": "heal", "break": "mend", "disturb": "settle"}
)


class OutOfOrder(ValueError):
    """A verb that is not legal where its client stands."""


class Order:
    """Follows a script and refuses the first step that makes no sense where it stands."""

    def __init__(self) -> None:
        self._clients: dict[str, Stand] = {}
        self._outages: list[str] = []

    def stand(self, client: str) -> Stand:
        """Where this client stands now."""
        return self._clients.get(client, Stand.IDLE)

    def legal(self, client: str) -> tuple[str, ...]:
        """The verbs this client may say next."""
        if client != LAB:
            return tuple(NEXT[self.stand(client)])
        opening = [verb for verb in OUTAGES if verb not in self._outages]
        closing = [OUTAGES[verb] for verb in self._outages]
        return (*opening, *closing, "probe", "upgrade")

    def advance(self, client: str, verb: str, *, with_call: bool) -> None:
        """Take the step, or say why it cannot be taken."""
        legal = self.legal(client)
        if verb not in legal:
            where = "" if client == LAB else f" ({client} is {self.stand(client).value})"
            raise OutOfOrder(f"{client} cannot {verb} here{where}; allowed: {', '.join(legal)}")
        if client == LAB:
            self._advance_lab(verb)
            return
        stand = self.stand(client)
        if CLIENT_VERBS[verb] is Takes.MAYBE_A_CALL and with_call != (stand is Stand.IDLE):
            need = "a call must follow" if stand is Stand.IDLE else "no call may follow"
            raise OutOfOrder(f"{client} {verb}: {client} is {stand.value}, so {need}")
        self._clients[client] = NEXT[stand][verb]

    def follow(self, step: Step) -> None:
        """Take this step, or say why it cannot be taken."""
        self.advance(step.actor, step.verb, with_call=step.f is not None)

    def _advance_lab(self, verb: str) -> None:
        if verb in OUTAGES:
            self._outages.append(verb)
        for opening, closing in OUTAGES.items():
            if verb == closing:
                self._outages.remove(opening)
