"""What can be done to the object store and to objects."""

from __future__ import annotations

from harness.deployments.deployment import Role
from nemesis.fault import Fault
from nemesis.pulling import on_calls
from nemesis.services import LOSE_REPLIES, outages
from nemesis.targets import Takes


def _damaged(how: str, does: str, count: str) -> Fault:
    return Fault(
        name=f"object-{how}",
        roles=(Role.OBJECT_STORE,),
        takes=Takes.OBJECT,
        does=does,
        levers=("damage",),
        landed=((count,),),
        inject=on_calls(lambda levers, to, _: levers.damage(how, to.key)),
        targets=("an object",),
    )


FAULTS = (
    *outages(Role.OBJECT_STORE),
    Fault(
        name="object-store-reply-lost",
        roles=(Role.OBJECT_STORE,),
        takes=Takes.CALLS,
        does="carries calls out and loses the replies",
        levers=("lose_replies",),
        landed=(("replies_dropped",),),
        inject=LOSE_REPLIES,
        options={"times": None},
        targets=("object-store",),
    ),
    Fault(
        name="object-store-half-writes",
        roles=(Role.OBJECT_STORE,),
        takes=Takes.CALLS,
        does="answers writes of objects like this with an error and carries out the others",
        levers=("fail_writes",),
        landed=(("writes_failed",),),
        inject=on_calls(lambda levers, to, o: levers.fail_writes(to.service, o["like"])),
        options={"like": "*"},
        targets=("object-store",),
    ),
    _damaged("vanished", "hides an object that was not deleted", "reads_missed"),
    _damaged("torn", "leaves only the beginning of an object", "reads_torn"),
    _damaged("corrupt", "turns one bit of an object over", "reads_corrupt"),
)
