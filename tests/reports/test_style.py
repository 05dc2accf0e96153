"""The colours of the pages: told apart from their ground by everybody, in both schemes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STYLE = (Path(__file__).resolve().parents[2] / "reports/html/style.css").read_text("utf-8")
LEAST = 4.5  # WCAG AA for text
WORDS = ("ink", "faint", "ok", "info", "fail", "found", "link", "good")


def schemes() -> list[dict[str, str]]:
    """The colours by name: of the light scheme, and of each place that sets the dark one."""
    blocks = re.findall(r"\{([^{}]*--paper:[^{}]*)\}", STYLE)
    return [dict(re.findall(r"--([a-z]+):(#[0-9a-f]{3,6})\b", block)) for block in blocks]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("ground", ["paper", "soft"])
@pytest.mark.parametrize("word", WORDS)
def test_text_can_be_read_on_every_ground(word: str, ground: str) -> None:
    for colours in schemes():
        assert contrast(colours[word], colours[ground]) >= LEAST


def test_both_ways_into_the_dark_scheme_give_the_same_colours() -> None:
    light, asked_by_the_system, asked_by_the_button = schemes()
    assert asked_by_the_system == asked_by_the_button != light
