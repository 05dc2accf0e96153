"""What is not the broker's to decide is handed on to the controller, as it came.

A controller that cannot be reached is asked again until the time the client allowed is over; the
answer is then REQUEST_TIMED_OUT for everything that was asked for, and whether it happened is open.
A client that allows no time at all is answered so at once, and nothing happened.
"""

from __future__ import annotations

from reference_impl.broker.answering import Answering, answering
from reference_impl.broker.node import Node
from reference_impl.broker.timing_out import allows_no_time, timed_out
from reference_impl.kafka.apis import Answered, AnyApi, Api, Asked
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context

DEFAULT_TIMEOUT_S = 30.0
_RETRY_S = 0.05


def forwarded(api: Api[Asked, Answered]) -> tuple[AnyApi, Answering]:
    """A row of the table of handlers for what is handed on."""

    async def handle(node: Node, context: Context, request: Asked) -> Answered:
        return await forward(node, api, context.version, request)

    return answering(api, handle)


async def forward(node: Node, api: Api[Asked, Answered], version: int, request: Asked) -> Answered:
    """The controller's answer."""
    if allows_no_time(api, request):
        return timed_out(api, request)
    clock = node.ports.clock
    allowed_s = _allowed_s(request)
    until_ns = clock.monotonic_ns() + int(allowed_s * 1e9)
    while True:
        left_s = (until_ns - clock.monotonic_ns()) / 1e9
        if left_s <= 0:
            return timed_out(api, request)
        try:
            return await node.controller.ask(api, version, request, timeout_s=left_s)
        except ConnectionError:
            await clock.sleep(min(_RETRY_S, left_s))


def _allowed_s(request: Message) -> float:
    timeout_ms = getattr(request, "timeout_ms", None)
    return DEFAULT_TIMEOUT_S if timeout_ms is None else max(1.0, timeout_ms / 1000)
