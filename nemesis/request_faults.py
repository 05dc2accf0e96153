"""What can befall a request to the control plane on its way; a verb of a script asks for each."""

from __future__ import annotations

from nemesis.fault import Fault, Role

REQUEST_FAULTS = (
    Fault(
        name="hold-request",
        role=Role.LINK,
        verb="hold",
        does="keeps a request in the network before the control plane sees it",
        landed="requests_held",
        shows="requests that wait in the proxy (bytes_held: how much of them)",
        healed_by=("release", "lose", "drop", "kill"),
    ),
    Fault(
        name="split-request",
        role=Role.LINK,
        verb="step",
        does="lets one transaction of a held request through and keeps the rest",
        landed="transactions_passed",
        shows="transactions that went through; requests_left says whether more of it waits",
    ),
    Fault(
        name="lose-reply",
        role=Role.LINK,
        verb="lose",
        does="has a request carried out and loses the reply on its way back",
        landed="replies_dropped",
        shows="replies thrown away after the commit (bytes_dropped: how much of them)",
    ),
    Fault(
        name="drop-request",
        role=Role.LINK,
        verb="drop",
        does="loses a request before the control plane sees it",
        landed="requests_dropped",
        shows="requests thrown away (bytes_dropped: how much of them)",
    ),
    Fault(
        name="kill-client",
        role=Role.CLIENT,
        verb="kill",
        does="kills a client at once while its operation is open",
        landed="operations_open",
        shows="operations that were open when it died",
    ),
    Fault(
        name="pause-client",
        role=Role.CLIENT,
        verb="pause",
        does="stops a client in its tracks; resumed, it does not know that time has passed",
        landed="requests_stalled",
        shows="requests that were open while it stood still",
        healed_by=("resume", "kill"),
    ),
    Fault(
        name="control-plane-refused",
        role=Role.CONTROL_PLANE,
        verb="refuse",
        does="refuses connections to the control plane and resets those that are used",
        landed="refusals",
        shows="connections and requests that were turned away",
        healed_by=("heal",),
    ),
    Fault(
        name="control-plane-broken",
        role=Role.CONTROL_PLANE,
        verb="break",
        does="makes the control plane answer every call with a hard error",
        landed="errors_answered",
        shows="errors that the database answered (sqlstate: the last of them)",
        healed_by=("mend",),
    ),
)
