"""What a step of a script can do, and when.

A client has one operation open at most. Where it stands is one of a few states, and which verb is
legal in which state is a table; the player, the parser and the generator all ask the same table,
so a script that parses can be played and a generated one parses.

    idle ──begin──► sent ──end──► idle          any of them ──pause──► the same, paused
    idle ──hold───► held ──release──► idle      sent, held  ──kill───► idle

The pseudo-client `lab` does things to the control plane itself; its table has a row per outage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

LAB = "lab"


class Takes(Enum):
    """Whether a verb is followed by a call."""

    A_CALL = "a call"
    NOTHING = "nothing"
    MAYBE_A_CALL = "a call when nothing is held"
    LOGS = "the logs to create first (t=, p=)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One verb: who says it, what follows it, what it means."""

    name: str
    takes: Takes
    meaning: str
    lab: bool = False


def _verbs(*verbs: Verb) -> Mapping[str, Verb]:
    return MappingProxyType({verb.name: verb for verb in verbs})


CLIENT_VERBS = _verbs(
    Verb(name="call", takes=Takes.A_CALL, meaning="send it and wait for the reply"),
    Verb(name="begin", takes=Takes.A_CALL, meaning="send it, do not wait"),
    Verb(name="end", takes=Takes.NOTHING, meaning="wait for the reply of what was begun"),
    Verb(name="hold", takes=Takes.A_CALL, meaning="send it, keep it in the network"),
    Verb(name="step", takes=Takes.NOTHING, meaning="let one transaction of it through"),
    Verb(name="release", takes=Takes.NOTHING, meaning="let it go and wait for the reply"),
    Verb(name="lose", takes=Takes.MAYBE_A_CALL, meaning="it is carried out, its reply is lost"),
    Verb(name="drop", takes=Takes.MAYBE_A_CALL, meaning="it is lost before anyone sees it"),
    Verb(name="kill", takes=Takes.NOTHING, meaning="kill -9 the agent with its operation open"),
    Verb(name="pause", takes=Takes.NOTHING, meaning="SIGSTOP the agent: a zombie in the making"),
    Verb(name="resume", takes=Takes.NOTHING, meaning="SIGCONT the agent"),
)

LAB_VERBS = _verbs(
    Verb(name="refuse", takes=Takes.NOTHING, lab=True, meaning="refuse and reset connections"),
    Verb(name="heal", takes=Takes.NOTHING, lab=True, meaning="accept connections again"),
    Verb(name="break", takes=Takes.NOTHING, lab=True, meaning="answer with a hard error"),
    Verb(name="mend", takes=Takes.NOTHING, lab=True, meaning="answer properly again"),
    Verb(name="probe", takes=Takes.NOTHING, lab=True, meaning="record the rows of the store"),
    Verb(name="upgrade", takes=Takes.LOGS, lab=True, meaning="run the remaining migrations"),
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
OUTAGES: Mapping[str, str] = MappingProxyType({"refuse": "heal", "break": "mend"})


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
        if CLIENT_VERBS[verb].takes is Takes.MAYBE_A_CALL and with_call != (stand is Stand.IDLE):
            need = "a call must follow" if stand is Stand.IDLE else "no call may follow"
            raise OutOfOrder(f"{client} {verb}: {client} is {stand.value}, so {need}")
        self._clients[client] = NEXT[stand][verb]

    def _advance_lab(self, verb: str) -> None:
        if verb in OUTAGES:
            self._outages.append(verb)
        for opening, closing in OUTAGES.items():
            if verb == closing:
                self._outages.remove(opening)
