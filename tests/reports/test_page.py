"""The page of a run: whole, linked, without network, and safe whatever the system said."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports.measures.lines import Event, lines_at
from tests.reports.conftest import tidemark

TOPIC = "a-newer-leader-proposes-another-boundary"
HOSTILE = (
    "</title></script><script>alert(1)</script><img src=//evil.example/x onerror=alert(2)>\u202e"
)
SECRET = "correct-horse-battery"
PUBLISHED = "https://github.com/aiven/inkless/blob/"
"""Where the design that MIG-003 cites can be read: a link to follow, nothing that is loaded."""


class Seen(HTMLParser):
    """Tags, ids, links and handlers of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.ids += [value or ""] if name == "id" else []
            self.links += [value or ""] if name in ("href", "src") else []
            assert name != "src"
            assert tag == "a" or name != "href"
            self.handlers += [name] if name.startswith("on") else []


@pytest.fixture(scope="module")
def page(failing_run: Path) -> str:
    return (failing_run / "report.html").read_text(encoding="utf-8")


def test_the_verdict_comes_first_and_the_failure_is_open(page: str) -> None:
    body = page[page.index("<body") :]

    verdict, finding = body.index("NOT CONFORMANT"), body.index('id="rule-MIG-003"')
    assert verdict < finding < body.index('<section id="happened"')
    article = body[finding : body.index("</article>")]
    for needed in ("A higher leader epoch", "expected", "seen", "evidence", "after the start"):
        assert needed in article
    assert "./tidemark replay 1 --rule MIG-003" in article


def test_every_anchor_is_there_once_and_every_link_leads_somewhere(page: str) -> None:
    seen = Seen(page)

    assert len(seen.ids) == len(set(seen.ids))
    assert {link[1:] for link in seen.links if link.startswith("#")} <= set(seen.ids)
    assert {"op-21", "op-61", "rule-MIG-003"} <= set(seen.ids)
    assert all(link.startswith(PUBLISHED) for link in seen.links if "//" in link)


@pytest.mark.parametrize("most", [0, 1])
def test_a_finding_that_is_not_drawn_names_the_command_that_shows_it(
    failing_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("reports.pictured.MOST_SLICES", most)
    tidemark(f"report {failing_run} --html {tmp_path / 'page.html'}")

    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    seen = Seen(text)
    findings = text.count('class="finding"')
    assert findings > 1
    assert text.count("<dt>show it</dt>") == findings - most
    assert "--around 61" in text
    assert {link[1:] for link in seen.links if link.startswith("#")} <= set(seen.ids)


def test_the_history_is_read_once_for_all_slices(
    failing_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []

    def counted(history: Path, wanted: Iterable[int]) -> dict[int, Event]:
        passes.append(1)
        return lines_at(history, wanted)

    monkeypatch.setattr("reports.measures.around.lines_at", counted)
    monkeypatch.setattr("reports.pictured.WHOLE_OPERATIONS", 0)
    tidemark(f"report {failing_run} --html {tmp_path / 'page.html'}")

    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<figure") > 2
    assert len(passes) == 1


def test_the_policy_names_the_only_script_and_allows_no_connection(page: str) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    assert f"script-src &#x27;sha256-{digest}&#x27;" in page
    assert "default-src &#x27;none&#x27;" in page


def test_a_hostile_system_scripts_nothing_and_its_secrets_stay_hidden(
    failing_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same history from a system whose topic is markup, and which tells a password."""
    monkeypatch.setenv("LAB_PASSWORD", SECRET)
    run = tmp_path / "run"
    shutil.copytree(failing_run / "shards", run / "shards")
    header = (failing_run / "header.json").read_text(encoding="utf-8")
    (run / "header.json").write_text(header.replace('"reference"', json.dumps(HOSTILE), 1))
    name = json.dumps(f"{HOSTILE} {SECRET} password=letmein")[1:-1]
    for shard in (run / "shards").iterdir():
        shard.write_text(shard.read_text(encoding="utf-8").replace(TOPIC, name))

    assert tidemark(f"report {run} --html {tmp_path / 'page.html'}") in (1, 2)

    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    seen = Seen(text)
    assert "&lt;img src=//evil.example/x" in text
    assert seen.tags.count("script") == 1
    assert "img" not in seen.tags
    assert seen.handlers == []
    assert all(link.startswith(PUBLISHED) for link in seen.links if "//" in link)
    assert "\u202e" not in text
    assert SECRET not in text
    assert "letmein" not in text


def test_the_page_of_a_folder_is_the_same_twice(
    failing_run: Path, tmp_path: Path, page: str
) -> None:
    tidemark(f"report {failing_run} --html {tmp_path / 'again.html'}")

    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert again.replace(str(failing_run), "1") == page
