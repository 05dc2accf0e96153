"""pytest meets the lab.

A test that takes the `lab` fixture plays scripts on the reference, in the world its mark names.
When the body is done, what was recorded is sealed and judged, and the verdict becomes the test's
outcome:

    FAIL            failed     an AssertionError with the findings
    BROKEN          broken     the lab failed, not the system
    NO PROOF        unknown    NoProof: ran, and shows nothing either way
    WEAK, PASS      passed
    NOT OBSERVABLE  skipped    with what the world lacks

Marks: `rule("MIG-003", …)` names the rules to be judged (default: those of the scenarios played),
`world("sim", "process")` the worlds, each a test of its own. Allure labels come from the rules.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import allure
import pytest
from allure_commons import hookimpl as allure_hook
from allure_commons import plugin_manager as allure_plugins
from allure_commons.model2 import Status as AllureStatus

from conformance.catalogue import CATALOGUE
from conformance.driver import Driver
from conformance.profiles import find_profile
from conformance.profiles.migration import play_scenario
from conformance.profiles.profile import Played
from conformance.register import open_register
from conformance.scenario import Scenario
from harness.errors import LabBroken
from harness.history import Run
from harness.history.plan import LabShard, Part, RunPlan, Skip
from harness.rules import Judged, Level, Rule, Verdict
from harness.steps.text import parse
from harness.sut import Sut, reference_sut
from harness.workloads.boundary_steps import BoundarySteps
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge


class NoProof(Exception):
    """A rule was to be judged and the recorded run shows nothing about it."""


class Lab:
    """One run of one system, from the first step to the verdicts."""

    def __init__(self, folder: Path, world: str, rules: tuple[str, ...]) -> None:
        self.world_name = world
        self._folder = folder
        self._rules = set(rules)
        self._register: Driver | None = None
        self._closing = ExitStack()
        self._run: Run | None = None
        self._asked: list[Scenario] = []
        self._played = Played()
        self.sut: Sut = reference_sut()

    def reference(self, *, control_plane: str | None = None, mutants: tuple[str, ...] = ()) -> None:
        """Choose the variant of the reference; before the first step only."""
        if self._register is not None:
            raise LabBroken("the system is running already; choose it before the first step")
        self.sut = reference_sut(control_plane=control_plane, mutants=mutants)

    def play(self, what: Scenario | str) -> None:
        """Play a scenario, or a script as text."""
        if isinstance(what, str):
            self._open().play(parse(what, BoundarySteps))
            return
        play_scenario(self._open(), what, self._played)
        self._rules |= set(what.rules)
        self._asked.append(what)

    def verdicts(self) -> tuple[Judged, ...]:
        """Seal the run and judge the chosen rules; nothing can be played afterwards."""
        self.close()
        if self._run is None:
            raise LabBroken("nothing was played")
        lab = LabShard(self._run)
        parts = tuple(_part(scenario) for scenario in self._asked)
        lab.plan(RunPlan(rules=tuple(sorted(self._rules)), parts=parts, reference=True))
        for name, reason in self._played.skipped.items():
            lab.skip(Skip(what="part", name=name, reason=reason))
        lab.close()
        self._run.seal()
        engine = InlineEngine()
        try:
            return judge(self._folder, CATALOGUE, engine).judgement.judged
        finally:
            engine.close()

    @property
    def started(self) -> bool:
        """Whether anything was played."""
        return self._run is not None

    def close(self) -> None:
        """End the world."""
        self._closing.close()

    def _open(self) -> Driver:
        if self._register is None:
            self._run = Run.create(
                self._folder, run="test", sut=self.sut.name, world=self.world_name, seed=1
            )
            opened = open_register(self.world_name, run=self._run, sut=self.sut, seed=1)
            self._register = self._closing.enter_context(opened)
        return self._register


def _part(scenario: Scenario) -> Part:
    return find_profile(CATALOGUE[scenario.rules[0]].profile).scenario_part(scenario)


def conclude(judged: tuple[Judged, ...]) -> None:
    """Turn verdicts into the outcome of a test."""
    by_verdict: dict[Verdict, list[Judged]] = {}
    for one in judged:
        by_verdict.setdefault(one.verdict, []).append(one)
    if failed := by_verdict.get(Verdict.FAIL):
        raise AssertionError("\n".join(_described(one) for one in failed))
    if broken := by_verdict.get(Verdict.BROKEN):
        raise LabBroken("; ".join(f"{one.rule.id}: {one.reason}" for one in broken))
    if unproven := by_verdict.get(Verdict.NO_PROOF):
        raise NoProof("; ".join(f"{one.rule.id}: {one.reason}" for one in unproven))
    if (unseen := by_verdict.get(Verdict.NOT_OBSERVABLE)) and len(unseen) == len(judged):
        pytest.skip(unseen[0].reason)


def _described(judged: Judged) -> str:
    seen = "".join(f"\n  op {f.op}: {f.seen}" for f in judged.result.findings[:3])
    return f"{judged.rule.id} {judged.rule.sentence} {judged.reason}{seen}"


def pytest_configure(config: pytest.Config) -> None:
    """Let Allure show a missing proof as unknown rather than as broken."""
    plugin = _UnknownForNoProof()
    allure_plugins.register(plugin)
    config.add_cleanup(lambda: allure_plugins.unregister(plugin))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per world."""
    if "lab" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("world")
        worlds = mark.args if mark else ("sim",)
        marked = [
            pytest.param(name, marks=[pytest.mark.process] if name == "process" else [])
            for name in worlds
        ]
        metafunc.parametrize("lab", marked, indirect=True)


@pytest.fixture
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    """The reference in a world; judged when the test's body is done."""
    mark = request.node.get_closest_marker("rule")
    rules = tuple(mark.args) if mark else ()
    for rule in rules:
        _label(CATALOGUE[rule])
    made = Lab(tmp_path / "run", request.param, rules)
    try:
        yield made
    finally:
        made.close()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Judge after the body, as part of the test and not of its tear-down."""
    result = yield
    made = pyfuncitem.funcargs.get("lab")
    if isinstance(made, Lab) and made.started:
        judged = made.verdicts()
        for one in judged:
            _label(one.rule)
        conclude(judged)
    return result


def _label(rule: Rule) -> None:
    allure.dynamic.epic(rule.profile)
    allure.dynamic.feature(rule.section)
    allure.dynamic.story(f"{rule.id} {rule.sentence}")
    severity = allure.severity_level
    allure.dynamic.severity(severity.CRITICAL if rule.level is Level.MUST else severity.NORMAL)


def _writable(text: str) -> str:
    """Hostile input in a test's parameters may hold what UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class _UnknownForNoProof:
    @allure_hook(tryfirst=True)
    def report_result(self, result: Any) -> None:
        """Change the status, and what no file could hold, before the result is written."""
        details = result.statusDetails
        if details is not None and "NoProof" in (details.message or ""):
            result.status = AllureStatus.UNKNOWN
        for owner, names in ((result, ("name", "fullName")), (details, ("message", "trace"))):
            for name in names:
                if isinstance(text := getattr(owner, name, None), str):
                    setattr(owner, name, _writable(text))
        for parameter in result.parameters or ():
            parameter.value = _writable(str(parameter.value))
