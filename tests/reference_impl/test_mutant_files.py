"""Mutants from outside the project: found by reference, mistakes told in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_impl.decisions import Mutant, MutantError, SqlMutant, load_mutant
from reference_impl.mutant_files import load_mutants

FILE = """
from reference_impl.decisions import Mutant, SqlMutant

MUTANTS = [Mutant(name="listed", decision="is-set", replace=lambda boundary: True)]
attribute = SqlMutant(name="named-by-itself", decision="sql:is_set", old="<>", new="=")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bugs.py"
    path.write_text(FILE)
    return path


def test_a_mutant_is_found_in_the_sequence_of_a_file(file: Path) -> None:
    assert isinstance(load_mutant(f"{file}:listed"), Mutant)


def test_a_mutant_is_found_among_the_attributes_by_its_own_name(file: Path) -> None:
    assert isinstance(load_mutant(f"{file}:named-by-itself"), SqlMutant)


def test_a_mutant_is_found_in_a_module(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(file.parent))
    assert load_mutant("bugs:listed").decision == "is-set"


def test_all_mutants_of_a_file_come_in_order_of_appearance(file: Path) -> None:
    assert [mutant.name for mutant in load_mutants(str(file))] == ["listed", "named-by-itself"]


def test_a_file_is_executed_once(file: Path) -> None:
    assert load_mutant(f"{file}:listed") is load_mutant(f"{file}:listed")


def test_a_name_that_is_not_there_is_answered_with_those_that_are(file: Path) -> None:
    with pytest.raises(MutantError, match="it has: listed, named-by-itself"):
        load_mutant(f"{file}:absent")


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("nonsense", "names no mutant"),
        ("no.such.module:x", "there is no module"),
        ("no/such/file.py:x", "there is no file"),
    ],
)
def test_a_reference_that_leads_nowhere_says_so(reference: str, sentence: str) -> None:
    with pytest.raises(MutantError, match=sentence):
        load_mutant(reference)


def test_a_file_that_fails_to_load_is_a_mistake_of_its_author(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise RuntimeError('half written')")
    with pytest.raises(MutantError, match="half written"):
        load_mutant(f"{tmp_path / 'broken.py'}:x")


def test_two_mutants_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(
        "from reference_impl.decisions import SqlMutant\n"
        "a = SqlMutant(name='same', decision='sql:is_set', old='a', new='b')\n"
        "b = SqlMutant(name='same', decision='sql:is_set', old='a', new='c')\n"
    )
    with pytest.raises(MutantError, match="two mutants called 'same'"):
        load_mutants(str(tmp_path / "twice.py"))
