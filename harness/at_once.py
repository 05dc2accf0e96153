"""Several pieces of work at the same time, in threads that keep no process from ending."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")


def at_the_same_time(
    work: Callable[[Given], Result], given: Sequence[Given], at_once: int
) -> list[Result]:
    """The results in order. What fails first is raised, once everything that had begun is over;
    nothing new is begun then."""
    if at_once == 1 or len(given) < 2:
        return [work(one) for one in given]
    results: dict[int, Result] = {}
    failures: list[BaseException] = []
    waiting: queue.SimpleQueue[tuple[int, Given]] = queue.SimpleQueue()
    for one in enumerate(given):
        waiting.put(one)

    def take_turns() -> None:
        while not failures:
            try:
                place, one = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                results[place] = work(one)
            except BaseException as failure:
                failures.append(failure)

    threads = [threading.Thread(target=take_turns, daemon=True) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(given))]
