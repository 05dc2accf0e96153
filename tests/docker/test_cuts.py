"""Cuts by the kernel, with a kernel of the test: rules, and their counters."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.deployments.docker.cuts import KernelCuts
from harness.deployments.docker.images import PACKAGES
from harness.errors import LabBroken

ROOT = Path(__file__).parents[2]


@dataclass
class FakeMachine:
    """Rules by their mark, and the packets that each dropped."""

    host: str
    rules: dict[tuple[str, str], int] = field(default_factory=dict)
    last: list[str] = field(default_factory=list)


class FakeKernel:
    """Does what `iptables` does with the commands that are used."""

    broken = False

    def __call__(self, machine: Any, command: Sequence[str]) -> str | None:
        if self.broken:
            return None
        if "-nvxL" in command:
            return "".join(
                f" {packets}  {60 * packets} DROP  all -- * *  {source}  0.0.0.0/0  /* {mark} */\n"
                for (source, mark), packets in machine.rules.items()
            )
        rule = command[command.index("-s") + 1], command[command.index("--comment") + 1]
        machine.last = list(command)
        if "-A" in command:
            machine.rules[rule] = 0
        else:
            machine.rules.pop(rule, None)
        return ""


@pytest.fixture
def nodes() -> dict[str, FakeMachine]:
    return {name: FakeMachine(host=f"10.0.0.{at}") for at, name in enumerate("abc", start=1)}


@pytest.fixture
def cuts(nodes: dict[str, Any]) -> KernelCuts:
    return KernelCuts(nodes, FakeKernel())


def test_a_rule_stands_where_packets_would_arrive(
    cuts: KernelCuts, nodes: dict[str, FakeMachine]
) -> None:
    cut = cuts.begin([("a", "b")])
    assert list(nodes["b"].rules) == [("10.0.0.1", cut.mark)]
    assert nodes["a"].rules == nodes["c"].rules == {}

    cuts.end(cut)
    assert nodes["b"].rules == {}


def test_packets_are_counted_for_each_cut_alone(
    cuts: KernelCuts, nodes: dict[str, FakeMachine]
) -> None:
    first, second = cuts.begin([("a", "b"), ("a", "c")]), cuts.begin([("a", "b")])
    nodes["b"].rules["10.0.0.1", first.mark] = 3
    nodes["c"].rules["10.0.0.1", first.mark] = 4
    cuts.look()

    assert first.counts == {"packets_dropped": 7, "bytes_dropped": 420}
    assert second.counts["packets_dropped"] == 0


def test_a_lossy_link_drops_by_chance(cuts: KernelCuts, nodes: dict[str, FakeMachine]) -> None:
    cuts.begin([("a", "b")])
    assert "--probability" not in nodes["b"].last
    cuts.begin([("a", "b")], fraction=0.25)
    assert nodes["b"].last[nodes["b"].last.index("--probability") + 1] == "0.2500"


def test_what_was_dropped_last_is_read_before_the_rule_goes(
    cuts: KernelCuts, nodes: dict[str, FakeMachine]
) -> None:
    cut = cuts.begin([("a", "b")])
    nodes["b"].rules["10.0.0.1", cut.mark] = 9
    cuts.end(cut)

    assert cut.counts["packets_dropped"] == 9


def test_a_link_that_cannot_be_cut_is_a_defect_of_the_lab(nodes: dict[str, Any]) -> None:
    kernel = FakeKernel()
    kernel.broken = True
    cuts = KernelCuts(nodes, kernel)
    with pytest.raises(LabBroken, match="no rule can be set in the network of b"):
        cuts.begin([("a", "b")])


def test_both_recipes_of_the_node_install_the_same_packages() -> None:
    recipe = (ROOT / "harness/deployments/docker/Dockerfile").read_text(encoding="utf-8")
    (install,) = re.findall(r"pip install \S+ -c \S+ \\\n +(.*) \\\n", recipe)
    assert install.replace('"', "").split() == list(PACKAGES)
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert set(PACKAGES) <= {re.split(">=|<", one)[0] for one in needs}
