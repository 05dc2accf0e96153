"""The certificate as a page: what is certified, how deep one could look, and what it rests on."""

from __future__ import annotations

from reports.certificate import certificate_document
from reports.html.sheet import document, row, table
from reports.markup import Child, tag
from reports.terminal import depth_told, remarks
from reports.view import RunView

_FACTS = (
    ("system", ("sut", "sut_version")),
    ("world", ("world",)),
    ("seed", ("seed",)),
    ("suite", ("suite", "commit")),
    ("started", ("started",)),
    ("ended", ("ended",)),
    ("events", ("events",)),
    ("history sha256", ("history_sha256",)),
    ("rules sha256", ("rules_sha256",)),
)


def certificate_page(view: RunView) -> str:
    """The page; only for a conclusion that is certified."""
    told = certificate_document(view.conclusion)
    facts: list[tuple[str, Child]] = [
        (name, " ".join(str(told[key]) for key in keys if told[key] is not None))
        for name, keys in _FACTS
    ]
    facts.insert(1, ("profiles", ", ".join(told["profiles"])))
    facts.insert(2, ("depth", depth_told(view.conclusion)))
    landed = ", ".join(f"{name} ×{count}" for name, count in told["faults"]["landed"].items())
    facts.insert(3, ("faults landed", landed or "none"))
    says = {one.rule.id: one.rule.sentence for one in view.conclusion.judgement.judged}
    exercised = [
        row(rule, says.get(rule, ""), f"{count:,}") for rule, count in told["exercised"].items()
    ]
    limits = [tag("li", f"{name}: {text}") for name, text in remarks(view.conclusion)]
    body = tag(
        "main",
        tag("dl", [(tag("dt", name), tag("dd", value)) for name, value in facts]),
        tag("h2", "What limits it"),
        tag("ul", limits) if limits else tag("p", "Nothing is known."),
        tag("h2", "Rules that passed"),
        table("How often each was exercised", ("rule", "says", "cases"), exercised),
        tag(
            "p",
            "Recomputed from the run folder by ",
            tag("code", view.repeat().replace("replay", "report")),
            "; repeated by ",
            tag("code", view.repeat()),
            ".",
        ),
        id="main",
        style="padding:1rem 1.25rem",
    )
    system = f"{told['sut']} {told['sut_version']}"
    title = tag("h1", f"✓ {told['certificate']} · {system}")
    top = tag("header", title, class_="top", data_verdict="pass")
    return document(f"{told['certificate']}: {system}", top, body)
