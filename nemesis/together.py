"""Levers that were pulled together, as one."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence

from harness.levers import Counts, Lever


class Together:
    """Several levers: their counts are added up, they are released in reverse order."""

    def __init__(self, levers: Sequence[Lever]) -> None:
        self.levers = tuple(levers)

    @property
    def counts(self) -> Counts:
        """Of all of them."""
        total: dict[str, int] = {}
        for lever in self.levers:
            for name, count in lever.counts.items():
                total[name] = total.get(name, 0) + count
        return total

    async def acted(self) -> None:
        """Return once each of them has acted."""
        for lever in self.levers:
            await lever.acted()

    async def release(self) -> None:
        """End all of them; the first error is raised once every one was tried."""
        errors: list[Exception] = []
        for lever in reversed(self.levers):
            try:
                await lever.release()
            except Exception as error:  # the others are released all the same
                errors.append(error)
        if errors:
            raise errors[0]


class Counted:
    """What was counted when something was done that needs no end."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.counts = counts

    async def acted(self) -> None:
        """It has acted already, or never will."""

    async def release(self) -> None:
        """There is nothing to end."""


async def pull_all(pulls: Iterable[Awaitable[Lever]]) -> Sequence[Lever]:
    """Pull levers one after the other, each when it is its turn; if one fails, release the rest."""
    pulled: list[Lever] = []
    try:
        for one in pulls:
            pulled.append(await one)
    except BaseException:
        await Together(pulled).release()
        raise
    return pulled
