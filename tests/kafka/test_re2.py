"""Expressions of RE2, said again for Python's engine; what Kafka says of many is recorded."""

from __future__ import annotations

import re

import pytest

from reference_impl.kafka.re2 import compiled


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a(?i)b|c", "aB", True),
        ("a(?i)b|c", "C", True),
        ("a(?i)b|c", "AB", False),
        ("(a(?i)b)c", "aBc", True),
        ("(a(?i)b)c", "aBC", False),
        ("(?i:a(?-i)b)", "Ab", True),
        ("(?i:a(?-i)b)", "AB", False),
        ("a$", "a\n", False),
        ("(?m)a$\n", "a\n", True),
        (r"\w", "é", False),
        (r"[^\w]", "é", True),
        (r"[^\d\s]", "\v", True),
        (r"[a\PL]", "1", True),
        (r"[^a\PL]", "b", True),
        (r"\p{Greek}", "λ", True),
        (r"\p{^Lu}", "a", True),
        (r"\Qa.b\E+", "a.bbb", True),
        (r"[\]a-c-]+", "]b-", True),
        ("[[:^alpha:]x]+", "1x", True),
        ("^*a", "a", True),
        ("a{,2}", "a{,2}", True),
        ("(?U)a+?", "aa", True),
        ("", "", True),
    ],
)
def test_an_expression_means_what_re2_means(pattern: str, text: str, matches: bool) -> None:
    assert bool(compiled(pattern).fullmatch(text)) is matches


@pytest.mark.parametrize("pattern", ["(?)", "(?-)", "(?i-", "a|*", "(*)", "[a-\\d]", "a\\", "[^"])
def test_what_is_no_expression_is_an_error(pattern: str) -> None:
    with pytest.raises(re.error):
        compiled(pattern)
