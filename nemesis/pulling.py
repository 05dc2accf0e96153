"""How faults pull levers: one for each node or link of a target, or one for the calls it names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from harness.deployments.deployment import Deployment, Levers
from harness.levers import Lever, pull_all
from nemesis.fault import Inject, Options
from nemesis.targets import Link, Target

One = TypeVar("One")
Pull = Callable[[Levers, One, Options], Awaitable[Lever]]


def on_each_node(pull: Pull[str]) -> Inject:
    """Pull a lever for every node of the target."""
    return _on_each(lambda target: target.nodes, pull)


def on_each_link(pull: Pull[Link]) -> Inject:
    """Pull a lever for every link of the target."""
    return _on_each(lambda target: target.links, pull)


def on_calls(pull: Pull[Target]) -> Inject:
    """Pull one lever on the calls of a service, or on an object."""
    return _on_each(lambda target: (target,), pull)


def _on_each(each: Callable[[Target], Iterable[One]], pull: Pull[One]) -> Inject:
    async def inject(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
        scaled = {
            name: value * on.pace if name == "seconds" else value for name, value in options.items()
        }
        return await pull_all(pull(on.levers, one, scaled) for one in each(target))

    return inject
