"""Profiles and systems are objects that are asked; nothing compares their names."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sut import PROFILES
from harness.sut.built_in import built_in_names

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("conformance", "harness", "nemesis", "reports", "spark_checkers")
NAMES = {*PROFILES, *built_in_names()}


def compared_names(source: str) -> list[str]:
    """Comparisons with the name of a profile or of a built-in system."""
    found = []
    for node in ast.walk(ast.parse(source)):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        texts = [part.value for one in operands for part in ast.walk(one) if _is_text(part)]
        found += [ast.unparse(node) for text in texts if text in NAMES]
    return found


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_nothing_compares_the_name_of_a_profile_or_a_system() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): compared_names(path.read_text("utf-8")) for path in files}

    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        'if profile == "classic": pass',
        'if "migration" in plan.profiles: pass',
        'if profiles != ("classic",): pass',
        'match sut.name:\n  case "apache-kafka": pass',
    ],
)
def test_each_comparison_is_noticed(source: str) -> None:
    assert compared_names(source) != []


@pytest.mark.parametrize("source", ['profiles = ("classic",)', 'if world == "sim": pass'])
def test_what_compares_no_name_is_not(source: str) -> None:
    assert compared_names(source) == []


def test_certify_is_imported_without_hypothesis() -> None:
    asked = "import sys, harness.cli.certify; sys.exit('hypothesis' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT).returncode == 0
