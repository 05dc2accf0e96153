"""The pages in a real browser: Chromium, headless, driven by Playwright.

Chromium is the machine's own, or the one that Playwright has installed. A machine without Chromium
or Playwright skips these with the reason. `TIDEMARK_SCREENSHOTS=DIR`
keeps pictures of what was opened, for eyes to look at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reports.conftest import tidemark

pytestmark = pytest.mark.browser

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
QUIET = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
)


RUNS = ("passing_run", "unplaceable_run", "campaign_run")


@pytest.fixture(scope="module")
def chromium() -> str:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM:
        return CHROMIUM
    with playwright.sync_playwright() as driver:
        program = str(driver.chromium.executable_path)
    if not Path(program).is_file():
        pytest.skip("there is no chromium here; `playwright install chromium` brings one")
    return program


@pytest.fixture(scope="module")
def pages(request: pytest.FixtureRequest, chromium: str) -> dict[str, Path]:
    """Every other kind of page, each drawn by its command, where there is something to open it."""
    runs = [request.getfixturevalue(name) for name in RUNS]
    made = {name: run / "report.html" for name, run in zip(RUNS, runs, strict=True)}
    compared = runs[0] / "compare.html"
    assert tidemark(f"compare {' '.join(map(str, runs))} --html {compared}") == 0
    return made | {"compare": compared, "certificate": runs[0] / "certificate.html"}


@pytest.fixture(scope="module")
def browser(chromium: str, pages: dict[str, Path]) -> Iterator[Any]:
    """After all runs were recorded: a browser has a loop of its own in this thread."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=QUIET.split())
        yield opened
        opened.close()


class Visit:
    """A page that was opened, what it asked for, and what it complained about."""

    def __init__(self, browser: Any, file: Path, *, width: int, scheme: str) -> None:
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        if folder := os.environ.get("TIDEMARK_SCREENSHOTS"):
            name = f"{file.parents[2].name}-{file.stem}-{width}-{scheme}.png"
            self.page.screenshot(path=Path(folder) / name, full_page=True)

    def shown(self, what: str) -> bool:
        """Whether something can be seen."""
        return bool(self.page.locator(what).first.is_visible())

    @property
    def overflow_px(self) -> int:
        """By how much the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_opens_from_disk_at_any_width_and_asks_nobody(
    browser: Any, failing_run: Path, width: int, scheme: str
) -> None:
    visit = Visit(browser, failing_run / "report.html", width=width, scheme=scheme)

    assert visit.complaints == []
    assert visit.asked == [(failing_run / "report.html").as_uri()]
    assert visit.overflow_px <= 0
    assert visit.shown("#rule-MIG-003 >> text=expected")
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    visit.page.click("#theme")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") != background


@pytest.mark.parametrize("name", [*RUNS, "compare", "certificate"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_kind_of_page_fits_complains_of_nothing_and_asks_nobody(
    browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    visit = Visit(browser, pages[name], width=width, scheme=scheme)

    assert visit.complaints == []
    assert visit.asked == [pages[name].as_uri()]
    assert visit.overflow_px <= 0
    assert visit.shown(SHOWN[name])


SHOWN = {
    "passing_run": "text=Nothing contradicts the rules",
    "unplaceable_run": "#rule-MIG-021 svg .bar.found",
    "campaign_run": "#happened svg .band",
    "compare": "tbody tr th",
    "certificate": "text=CERTIFIED",
}
"""What a page of each kind is there to show."""


TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_an_anchor_opens_what_is_folded_around_it(browser: Any, failing_run: Path) -> None:
    visit = Visit(browser, failing_run / "report.html", width=1280, scheme="light")

    assert not visit.shown("#op-21")
    visit.page.click("#rule-MIG-003 dd a >> text=op 21")
    assert visit.shown("#op-21")
    assert visit.page.evaluate("document.activeElement.id") == "op-21"
    visit.page.evaluate("location.hash = '#op-7777777'")
    visit.page.wait_for_function("document.getElementById('said').textContent.length > 0")
    assert "report 1 --around 7777777" in visit.page.text_content("#said")


def test_what_is_said_can_be_seen_wherever_one_reads(browser: Any, failing_run: Path) -> None:
    visit = Visit(browser, failing_run / "report.html", width=390, scheme="dark")

    visit.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    visit.page.evaluate("location.hash = '#op-7777777'")
    visit.page.wait_for_function("document.getElementById('said').textContent.length > 0")
    place = visit.page.locator("#said").bounding_box()

    assert 0 <= place["y"] < 900


def test_the_keyboard_does_not_walk_through_every_bar_of_a_picture(
    browser: Any, failing_run: Path
) -> None:
    visit = Visit(browser, failing_run / "report.html", width=1280, scheme="light")

    assert visit.page.locator("svg a").count() > 0
    assert visit.page.locator("svg a:not([tabindex='-1'])").count() == 0


def test_lanes_are_named_however_far_a_picture_is_scrolled(browser: Any, failing_run: Path) -> None:
    visit = Visit(browser, failing_run / "report.html", width=390, scheme="light")
    place = visit.page.locator("details.finding .scroll").first
    names = place.locator("svg .names text").first
    place.evaluate("one => { one.scrollLeft = 0; }")
    before = names.bounding_box()["x"]

    place.evaluate("one => { one.scrollLeft = 200; }")
    visit.page.evaluate(TWO_FRAMES)  # scrolling is told before a frame is drawn

    assert names.bounding_box()["x"] == before


def test_the_filter_hides_what_does_not_match(browser: Any, failing_run: Path) -> None:
    visit = Visit(browser, failing_run / "report.html", width=1280, scheme="light")

    visit.page.fill("#filter", "no-such-rule")
    assert not visit.shown("#rule-MIG-003")
    visit.page.fill("#filter", "mig-003 EPOCH")
    assert visit.shown("#rule-MIG-003")


def test_a_folded_section_is_opened_by_the_keyboard(browser: Any, failing_run: Path) -> None:
    visit = Visit(browser, failing_run / "report.html", width=1280, scheme="light")
    folded = visit.page.locator("#rules details").first

    folded.locator("summary").focus()
    visit.page.keyboard.press("Enter")

    assert folded.get_attribute("open") is not None


def test_the_index_sorts_by_the_column_that_is_clicked(
    browser: Any, failing_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("2", "10"):
        shutil.copytree(failing_run, tmp_path / "runs" / number)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.cli.runs.RUNS", Path("runs"))
    assert tidemark("runs --html index.html") == 0
    visit = Visit(browser, tmp_path / "index.html", width=1280, scheme="light")

    visit.page.keyboard.press("Tab")
    visit.page.locator("th button >> text=run").focus()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert visit.page.evaluate(outline) == "solid"
    visit.page.click("th button >> text=run")
    first = visit.page.locator("tbody tr th").all_text_contents()
    visit.page.click("th button >> text=run")

    assert first == ["2", "10"]
    assert visit.page.locator("tbody tr th").all_text_contents() == ["10", "2"]
    assert visit.complaints == []
    visit.page.click("tbody a >> text=MIG-003")
    assert visit.shown("#rule-MIG-003")
