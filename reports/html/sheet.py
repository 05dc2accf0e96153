"""The frame of every page: style and script inside, and a policy that lets nothing else run.

The policy names the script by its hash and allows no connection at all, so that even markup that
slipped through an escape could neither run nor tell anyone.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from reports.markup import Child, Markup, joined, raw, tag

_HERE = Path(__file__).parent
_DOCTYPE = "<!doctype html>\n"


def document(title: str, *body: Child) -> str:
    """A whole page."""
    style = (_HERE / "style.css").read_text(encoding="utf-8")
    script = (_HERE / "script.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="tidemark"),
        tag("title", title),
        tag("style", raw(style)),
    )
    skip = tag("a", "Skip to the content", href="#main", class_="skip")
    page = tag("html", head, tag("body", skip, body, tag("script", raw(script))), lang="en")
    return f"{_DOCTYPE}{page}\n"


def folded(summary: Child, *body: Child, open_: bool = False, id_: str | None = None) -> Markup:
    """Something that can be opened."""
    return tag("details", tag("summary", summary), body, open=open_, id=id_)


def scrolling(label: str, *body: Child) -> Markup:
    """A region that scrolls sideways by itself, reachable by keyboard."""
    return tag("div", body, class_="scroll", role="region", aria_label=label, tabindex=0)


def table(
    caption: str,
    columns: tuple[str, ...],
    rows: list[Markup],
    *,
    sortable: bool = False,
    class_: str | None = None,
) -> Markup:
    """A table in a scrolling region; `rows` are made by `row`."""
    head = tag("tr", [tag("th", name, scope="col") for name in columns])
    made = tag(
        "table",
        tag("caption", caption),
        tag("thead", head),
        tag("tbody", rows),
        data_sortable=sortable,
        class_=class_,
    )
    return scrolling(caption, made)


def row(*cells: Child, id_: str | None = None, class_: str | None = None) -> Markup:
    """A row; the first cell heads it."""
    first, *others = cells
    body = joined(tag("th", first, scope="row"), [tag("td", cell) for cell in others])
    return tag("tr", body, id=id_, class_=class_)


def copied(command: str, label: str = "copy") -> Markup:
    """A command with a button that copies it."""
    said = f"{label}: {command}"
    button = tag("button", label, type="button", data_copy=command, aria_label=said, class_="copy")
    return tag("span", tag("code", command), " ", button, class_="command")
