"""Invocations meet their completions.

A logical process has at most one open operation, so `process` alone pairs the two lines. What does
not pair is reported and never dropped in silence: a completion without invocation, an invocation
while another is open (the open one is closed as unknown), a completion of something else than what
was asked. An operation that is never completed is unknown: `info`. Memory: the open operations.

The table of errors has the last word about `fail`: a line that says fail with an error that does
not prove it is reported and taken as info, because a wrong fail makes checkers lie.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from .kafka_errors import REQUESTS, Indefinite, Outcome, definiteness, error_name
from .lines import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: what was asked, what came back, and when, in order units."""

    invoke: Event
    completion: Event | None
    type: Outcome
    error: str | None
    began: int
    answered: int | None

    @property
    def ended(self) -> int | None:
        """When it was over; an unknown outcome is never known to be over."""
        return None if self.type == "info" else self.answered


class Pairing:
    """Feed it the op lines in order; it hands out each operation once, when it is closed."""

    def __init__(
        self,
        order: Callable[[Event], int],
        problem: Callable[[Event, str], None],
        *,
        self_contained: Collection[str] = (),
        started: Mapping[str, int] | None = None,
    ) -> None:
        """`order` gives the order units of a line; `problem` is told what does not pair.

        A completion of a `self_contained` function repeats what was asked, so it is kept without
        its invocation, as an operation that began with the history: by each clock when it
        `started`, where lines are left out.
        """
        self._order = order
        self._problem = problem
        self._self_contained = self_contained
        self._open: dict[int, Event] = {}
        self._started: dict[str, int] = dict(started or {})

    def feed(self, event: Event) -> Operation | None:
        """The operation that this line closes, if it closes one."""
        process = event["process"]
        if event["clock"] not in self._started:
            self._started[event["clock"]] = self._order(event)
        earlier = self._open.pop(process, None)
        if event["type"] == "invoke":
            self._open[process] = event
            if earlier is None:
                return None
            self._problem(
                event,
                f"process {process} invokes {event['f']} while its {earlier['f']} "
                f"(event {earlier['index']}) is open; that one is closed as info",
            )
            return self._unanswered(earlier)
        if earlier is None:
            kept = event["f"] in self._self_contained
            self._problem(
                event,
                f"process {process} completes {event['f']}, which it did not invoke; "
                f"{'kept as if it began with the history' if kept else 'dropped'}",
            )
            if not kept:
                return None
            return replace(self._answered(event, event), began=self._started[event["clock"]])
        for name in ("f", "topic", "partition"):
            if event.get(name, earlier.get(name)) != earlier.get(name):
                self._problem(
                    event,
                    f"process {process} completes {name} {event.get(name)}, but invoked "
                    f"{earlier.get(name)} (event {earlier['index']}); that one is closed as info",
                )
                return self._unanswered(earlier)
        return self._answered(earlier, event)

    def finish(self) -> Iterator[Operation]:
        """What is open at the end of the history, in order of invocation."""
        for invoke in sorted(self._open.values(), key=lambda event: int(event["index"])):
            yield self._unanswered(invoke)
        self._open.clear()

    def _unanswered(self, invoke: Event) -> Operation:
        return Operation(
            invoke=invoke,
            completion=None,
            type="info",
            error=None,
            began=self._order(invoke),
            answered=None,
        )

    def _answered(self, invoke: Event, completion: Event) -> Operation:
        began, answered = self._order(invoke), self._order(completion)
        comparable = completion["clock"] == invoke["clock"]
        if not comparable:
            self._problem(
                completion,
                f"invoked by clock {invoke['clock']} and completed by clock "
                f"{completion['clock']}; when it ended is taken as unknown",
            )
        elif answered < began:
            comparable = False
            self._problem(
                completion,
                "completed before it was invoked, by its own clock; when it ended is taken as "
                "unknown",
            )
        return Operation(
            invoke=invoke,
            completion=completion,
            type=self._outcome(completion),
            error=error_name(completion.get("error")),
            began=began,
            answered=answered if comparable else None,
        )

    def _outcome(self, completion: Event) -> Outcome:
        outcome: Outcome = completion["type"]
        error, f = completion.get("error"), completion["f"]
        if outcome == "fail" and error is not None and f in REQUESTS:
            reading = definiteness(f, error)
            if isinstance(reading, Indefinite):
                self._problem(
                    completion,
                    f"recorded as fail, but {error_name(error)} does not prove that {f} had no "
                    f"effect ({reading.reason}); taken as info",
                )
                return "info"
        return outcome
