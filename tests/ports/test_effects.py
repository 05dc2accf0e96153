"""Effects: how they are numbered and traced where they pass a gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from traces import Line, Lines, Troubled, each_trouble

from reference_impl.ports.effects import Effect, OpenGate, Passage, TracingGate, Trouble


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture
def gate(lines: Lines) -> TracingGate:
    return TracingGate(lines)


def effect(do: Callable[[], Awaitable[Any]], **options: Any) -> Effect[Any]:
    return Effect(port="p", call="c", args={"a": 1}, do=do, failed=str, **options)


async def succeed() -> int:
    return 7


async def fail() -> None:
    raise KeyError("k")


def test_an_open_gate_carries_out_the_effect() -> None:
    assert asyncio.run(OpenGate().run(effect(succeed))) == 7
    with pytest.raises(KeyError):
        asyncio.run(OpenGate().run(effect(fail)))


def test_an_effect_is_traced_with_its_number_and_outcome(gate: TracingGate, lines: Lines) -> None:
    assert asyncio.run(gate.run(effect(succeed))) == 7
    assert lines == [Line(1, "p", "c", {"a": 1}, "ok")]


def test_the_result_may_have_a_name(gate: TracingGate, lines: Lines) -> None:
    asyncio.run(gate.run(effect(succeed, outcome=lambda result: f"SEVEN_{result}")))
    assert [line.outcome for line in lines] == ["SEVEN_7"]


def test_an_exception_is_named_by_its_class_and_goes_on(gate: TracingGate, lines: Lines) -> None:
    with pytest.raises(KeyError):
        asyncio.run(gate.run(effect(fail)))
    assert [line.outcome for line in lines] == ["KeyError"]


def test_numbers_are_given_at_the_beginning_and_lines_at_the_end(
    gate: TracingGate, lines: Lines
) -> None:
    async def story() -> None:
        go = asyncio.Event()

        async def wait() -> None:
            await go.wait()

        slow = asyncio.create_task(gate.run(effect(wait)))
        await asyncio.sleep(0)
        await gate.run(effect(succeed))
        go.set()
        await slow

    asyncio.run(story())
    assert [line.number for line in lines] == [2, 1]
    assert gate.count == 2


def test_an_effect_in_whose_middle_the_node_is_killed_has_no_line(
    gate: TracingGate, lines: Lines
) -> None:
    async def story() -> None:
        doomed = asyncio.create_task(gate.run(effect(asyncio.Event().wait)))
        await asyncio.sleep(0)
        doomed.cancel()
        await asyncio.gather(doomed, return_exceptions=True)
        await gate.run(effect(succeed))

    asyncio.run(story())
    assert [line.number for line in lines] == [2]


@each_trouble
def test_a_passage_raises_what_its_port_says_to_a_trouble(trouble: Trouble) -> None:
    passage = Passage(Troubled(trouble), "p", lambda trouble: LookupError(str(trouble)))
    with pytest.raises(LookupError, match=trouble.value):
        asyncio.run(passage.run("c", succeed))
