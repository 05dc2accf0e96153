"""Markup is made in one place, and escapes there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.markup import joined, raw, tag

REPORTS = Path(__file__).resolve().parents[2] / "reports"
HOSTILE = "</script><img src=x onerror=alert(1)>'\"&"


def test_children_and_attributes_are_escaped() -> None:
    made = tag("p", HOSTILE, title=HOSTILE)

    assert "<img" not in made
    assert made.count("&lt;img") == 2
    assert "onerror=alert(1)&gt;&#x27;&quot;&amp;" in made


def test_markup_within_markup_stays_markup() -> None:
    assert tag("p", [tag("b", "x"), " y"], None) == "<p><b>x</b> y</p>"
    assert joined("a<b", raw("<br>"), 3) == "a&lt;b<br>3"


def test_attributes_that_are_false_or_none_are_left_out() -> None:
    assert tag("a", href=None, open=False, hidden=True, class_="k", x=1.50) == (
        '<a hidden class="k" x="1.5"></a>'
    )


@pytest.mark.parametrize("path", sorted(REPORTS.rglob("*.py")), ids=lambda path: path.name)
def test_no_other_module_joins_angle_brackets(path: Path) -> None:
    text = (
        path.read_text(encoding="utf-8").replace("(?P<", "(?P").replace("(?<!", "(?!")
    )  # in patterns

    found = re.findall(r"""["'][^"'\n]*<(?:[a-z/{]|!)[^"'\n]*["']""", text)

    allowed = {"markup.py": None, "sheet.py": ['"<!doctype html>\\n"']}
    if path.name != "markup.py":
        assert found == allowed.get(path.name, [])
