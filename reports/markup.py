"""HTML, SVG and XML that are safe by construction.

`tag` builds an element from children and attributes. A child is text, which is escaped, or
`Markup`, which only `tag` and `raw` make. So whatever comes from a system under test is escaped,
and rid of secrets, unless this module says otherwise; no other module joins angle brackets by hand
(a test looks).
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from reports.plain import printable, scrubbed

_GEOMETRY = frozenset({"d", "points"})  # written by the pictures from numbers alone, and long
VOID = frozenset({"br", "hr", "input", "link", "meta"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = Markup | str | int | float | None | Iterable["Child"]


def escaped(text: str) -> Markup:
    """Text as it may stand between tags and in attributes."""
    kept = "\n".join(printable(line) for line in scrubbed(text).split("\n"))
    return Markup(html.escape(kept, quote=True))


def raw(text: str) -> Markup:
    """Markup from this package's own files; never for anything that was recorded."""
    return Markup(text)


def joined(*children: Child) -> Markup:
    """Children one after the other."""
    return Markup("".join(_pieces(children)))


def tag(name: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """An element. `class_` is `class`, `aria_label` `aria-label`; None and False are left out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    if isinstance(value, str) and name in _GEOMETRY:
        return f' {name}="{value}"'
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{escaped(text)}"'


def _pieces(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            yield child
        elif isinstance(child, str | int | float):
            yield escaped(str(child))
        else:
            yield from _pieces(child)
