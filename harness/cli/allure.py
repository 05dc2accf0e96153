"""Allure: results of runs and of pytest in one site, generated offline as a single file.

Results lie in one place, wherever a command runs: those of runs in one folder, those that
`tidemark test --allure` writes in another, which it empties first.

The generator is Allure 3 from npm, installed once into `.tidemark/`. It takes its categories from
a configuration (those among the results are for Allure 2), and writes a tag that loads a third
party's script: such tags are taken out, and the page opens without network.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cli.testing import ALLURE_RESULTS, ALLURE_TESTS, ROOT
from harness.errors import UsageError
from harness.scratch import ScratchFolder
from reports.allure import CATEGORIES, results
from reports.view import RunView

VERSION = "3.18.0"
RUN_RESULTS = ROOT / ALLURE_RESULTS / "runs"
TEST_RESULTS = ROOT / ALLURE_TESTS
SITE = Path("allure-report.html")
_TOOLS = ROOT / ".tidemark" / "allure"
_HISTORY = ROOT / ".tidemark" / "allure-history.jsonl"
_THIRD_PARTY = re.compile(
    r"<script\b[^>]*\bsrc=[\"'](?:https?:)?//[^>]*>\s*</script>"
    r"|<script\b[^>]*>(?:(?!</script>).){0,2000}?googletagmanager(?:(?!</script>).)*</script>"
    r"|<script\b[^>]*>(?:(?!</script>).){0,400}?gtag\((?:(?!</script>).){0,400}</script>"
    r"|<link\b[^>]*\bhref=[\"'](?:https?:)?//[^>]*>",
    re.DOTALL | re.IGNORECASE,
)


def write_results(view: RunView, folder: Path = RUN_RESULTS, round_: int | None = None) -> int:
    """Add the results of a run, or of a round of a night, to a folder; how many files it took."""
    folder.mkdir(parents=True, exist_ok=True)
    files = dict(results(view, round_))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    return len(files)


def generate(
    folders: Sequence[Path] = (RUN_RESULTS, TEST_RESULTS),
    site: Path = SITE,
    history: Path = _HISTORY,
) -> Path:
    """The site of all results in some folders, with the trend of those generated before."""
    words = [program(), "generate"]
    history.parent.mkdir(parents=True, exist_ok=True)
    with ScratchFolder("allure") as scratch:
        out, config = scratch / "site", scratch / "allurerc.json"
        config.write_text(json.dumps(configuration(out, history)), encoding="utf-8")
        found = [str(one.resolve()) for one in folders if one.is_dir()]
        _run([*words, "--config", str(config), *found], cwd=scratch)
        page = next(iter(sorted(out.rglob("index.html"))), None)
        if page is None:
            raise UsageError("Allure wrote no page; see .tidemark/allure")
        site.write_text(without_third_parties(page.read_text("utf-8")), encoding="utf-8")
    return site


def configuration(out: Path, history: Path) -> dict[str, Any]:
    """What Allure 3 is told."""
    rules = [
        {
            "id": str(one["id"]),
            "name": one["name"],
            "matchers": {"statuses": one["matchedStatuses"]},
            "groupByMessage": False,
        }
        for one in CATEGORIES
    ]
    shown = {"singleFile": True, "groupBy": ["epic", "feature", "story"]}
    return {
        "name": "Tidemark",
        "output": str(out),
        "historyPath": str(history),
        "categories": {"rules": rules},
        "plugins": {"awesome": {"options": shown}},
    }


def without_third_parties(page: str) -> str:
    """A page without the tags that would load anything from elsewhere."""
    return _THIRD_PARTY.sub("", page)


def program() -> str:
    """Allure of the version that is known to work, installed on first use."""
    installed = _TOOLS / "node_modules" / ".bin" / "allure"
    if not installed.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise UsageError("--allure needs npm (Node.js 20 or newer): there is none on PATH")
        _TOOLS.mkdir(parents=True, exist_ok=True)
        words = [npm, "install", "--prefix", str(_TOOLS), "--no-audit", "--no-fund", "--silent"]
        _run([*words, f"allure@{VERSION}"], cwd=_TOOLS)
    return str(installed)


def _run(words: list[str], cwd: Path) -> None:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise UsageError(f"{Path(words[0]).name} failed with {done.returncode}:\n{last}")
