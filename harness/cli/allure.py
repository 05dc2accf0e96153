"""Allure: results of runs and of pytest in one site, generated offline as a single file.

The generator is Allure 3 from npm, installed once into `.tidemark/`. It writes a tag that loads
a third party's script: such tags are taken out, and the page opens without network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from harness.cli.testing import ROOT
from harness.errors import UsageError
from harness.scratch import ScratchFolder
from reports.allure import results
from reports.view import RunView

VERSION = "3.18.0"
RESULTS = Path("allure-results")
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


def write_results(view: RunView, folder: Path = RESULTS) -> int:
    """Add the results of a run to a folder; how many files it took."""
    folder.mkdir(parents=True, exist_ok=True)
    files = dict(results(view))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    return len(files)


def generate(folder: Path = RESULTS, site: Path = SITE) -> Path:
    """The site of all results in a folder."""
    program = _program()
    with ScratchFolder("allure") as scratch:
        out = scratch / "site"
        words = [program, "awesome", str(folder.resolve()), "--single-file", "--output", str(out)]
        words += ["--report-name", "Tidemark", "--history-path", str(_HISTORY)]
        words += ["--group-by", "epic,feature,story"]
        _run(words, cwd=scratch)
        page = next(iter(sorted(out.rglob("index.html"))), None)
        if page is None:
            raise UsageError("Allure wrote no page; see .tidemark/allure")
        site.write_text(without_third_parties(page.read_text("utf-8")), encoding="utf-8")
    return site


def without_third_parties(page: str) -> str:
    """A page without the tags that would load anything from elsewhere."""
    return _THIRD_PARTY.sub("", page)


def _program() -> str:
    """Allure of the version that is known to work, installed on first use."""
    program = _TOOLS / "node_modules" / ".bin" / "allure"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise UsageError("--allure needs npm (Node.js 20 or newer): there is none on PATH")
        _TOOLS.mkdir(parents=True, exist_ok=True)
        words = [npm, "install", "--prefix", str(_TOOLS), "--no-audit", "--no-fund", "--silent"]
        _run([*words, f"allure@{VERSION}"], cwd=_TOOLS)
    return str(program)


def _run(words: list[str], cwd: Path) -> None:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise UsageError(f"{Path(words[0]).name} failed with {done.returncode}:\n{last}")
