"""Nothing steers a terminal, and no secret is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.hidden import secrets_of
from reports.plain import HIDDEN, clean, hiding, printable, scrubbed

SUT = """
[sut]
name = "acme"
version = "1"
profiles = ["classic"]
bootstrap = "h:1"
[client]
"sasl.username" = "${LAB_LOGIN}"
"""


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\u202e", "\ufeff", "\ud800", "\x00"])
def test_what_could_steer_a_terminal_is_spelled_out(text: str) -> None:
    assert printable(text).isprintable()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("sasl.password=hunter22 next", "sasl.password=[hidden] next"),
        ('{"client_secret": "a b c", "x": 1}', '{"client_secret": [hidden], "x": 1}'),
        ("postgres://lab:pw@db/x", "postgres://[hidden]@db/x"),
        ("1s3+http://lab:pw@store", "1s3+http://[hidden]@store"),
        ("token: abc.def, offset: 4", "token: [hidden], offset: 4"),
        ("-----BEGIN RSA PRIVATE KEY-----\nAA\n-----END RSA PRIVATE KEY-----", HIDDEN),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, kept: str) -> None:
    assert scrubbed(text) == kept


@pytest.mark.parametrize("text", ["offset=4 epoch=2", "http://127.0.0.1:9092/x", "key=k1", "a:b@c"])
def test_what_does_not_is_shown(text: str) -> None:
    assert scrubbed(text) == text


@pytest.mark.parametrize("text", ["x", "a.", "password", "password ", "http://", "-----BEGIN "])
def test_a_very_long_text_is_looked_at_once(text: str) -> None:
    """Patterns that begin anew at every character would take hours for this."""
    whole = text * 300_000
    assert scrubbed(whole) == whole


def test_a_document_without_secrets_is_still_a_document() -> None:
    told = {"a": [{"password": "x", "n": 1}], "said": "token=abc", "no": None}
    assert clean(told) == {
        "a": [{"password": HIDDEN, "n": 1}],
        "said": f"token={HIDDEN}",
        "no": None,
    }


def test_known_values_are_hidden_within_the_block_alone() -> None:
    with hiding(["s3cr3t-value", "abc"]):
        assert scrubbed("it said s3cr3t-value abc") == f"it said {HIDDEN} abc"
    assert scrubbed("it said s3cr3t-value") == "it said s3cr3t-value"


@pytest.mark.parametrize(
    ("value", "hidden"),
    [("must", False), ("short-1", False), ("boundary", False), ("pass", False), ("hunter22", True)],
)
def test_by_its_name_only_what_can_be_a_secret_is_one(
    value: str, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN_KIND", value)

    assert (value in secrets_of({"sut": "reference"})) is hidden


def test_what_a_sut_file_names_always_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LOGIN", "must")
    sut = tmp_path / "sut.toml"
    sut.write_text(SUT)

    assert "must" in secrets_of({"sut": "acme", "options": {"sut": str(sut)}})
