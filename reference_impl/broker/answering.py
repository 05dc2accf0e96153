"""How a broker's table of handlers is written: the type checker sees that each row fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from reference_impl.broker.node import Node
from reference_impl.kafka.apis import Answered, AnyApi, Api, Asked
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Answer, Context

Answering: TypeAlias = Callable[[Node, Context, Any], Answer[Message]]


def answering(
    api: Api[Asked, Answered], handler: Callable[[Node, Context, Asked], Answer[Answered]]
) -> tuple[AnyApi, Answering]:
    """A row: a handler that takes this API's requests and gives its responses."""
    return api, handler
