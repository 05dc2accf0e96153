"""The documents of the designs: quoted where they are at hand, named where they are not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.proofs import LINE_MAP
from harness.errors import UsageError
from harness.rules.designs import SETTING, Designs, designs_at
from harness.rules.linemap import DocumentMap, load_line_map

RULE = CATALOGUE["MIG-003"]
TEXT = "".join(f"line {number}\n" for number in range(1, 400))
QUOTED = "\n".join(f"line {number}" for number in RULE.lines)


def known(text: str = TEXT, *also: str) -> dict[str, DocumentMap]:
    """A map in which the document of the rule is this text."""
    first, *others = (hashlib.sha256(one.encode()).hexdigest() for one in (text, *also))
    document = DocumentMap(
        name="migration",
        lines=400,
        sha256=first,
        descriptive={},
        where="https://example.org/MIGRATION.md",
        also_sha256=tuple(others),
    )
    return {"migration": document}


@pytest.mark.parametrize("name", ["migration.md", "MIGRATION.md"])
def test_a_document_is_found_by_our_name_and_by_the_one_it_was_published_under(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(TEXT)
    assert designs_at(tmp_path, known()).quote(RULE) == QUOTED


def test_another_version_is_not_quoted_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "migration.md").write_text(f"{TEXT}more\n")
    designs = designs_at(tmp_path, known())
    assert designs.quote(RULE) == ""
    assert f"{tmp_path}/migration.md is another version" in designs.where(RULE)


def test_a_copy_with_the_same_lines_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "migration.md").write_text(TEXT)
    assert designs_at(tmp_path, known("garbled", TEXT)).quote(RULE) == QUOTED


def test_a_folder_without_the_document_is_said_to_have_none(tmp_path: Path) -> None:
    said = designs_at(tmp_path, known()).where(RULE)
    assert f"{tmp_path} has no migration.md or MIGRATION.md" in said


def test_without_a_folder_it_is_said_how_to_name_one() -> None:
    said = Designs(known=known()).where(RULE)
    assert "section 'State model', lines 59 69 92" in said
    assert f"quoted with --designs DIR or {SETTING}=DIR" in said


def test_a_setting_that_leads_nowhere_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "/nowhere")
    with pytest.raises(UsageError, match=f"{SETTING} /nowhere: there is no such folder"):
        designs_at(None)


def test_every_rule_that_cites_a_line_leads_to_where_it_was_published() -> None:
    designs = Designs(known=load_line_map(LINE_MAP, CATALOGUE))
    cited = [rule for rule in CATALOGUE if rule.lines]
    links = {rule.id: designs.link(rule) for rule in cited}
    assert all(link.startswith("https://") for link in links.values())
    assert links["MIG-003"].endswith("MIGRATION_TIERED_TO_DISKLESS.md?plain=1#L59")
