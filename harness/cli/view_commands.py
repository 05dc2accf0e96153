"""The commands that show: rules, explain, runs, report, compare. They judge nothing anew."""

from pathlib import Path
from typing import Annotated

import typer

views = typer.Typer()

Json = Annotated[bool, typer.Option("--json", help="Machine-readable, alone on stdout.")]
DesignsFolder = Annotated[
    Path | None, typer.Option(help="Folder with the design documents, to quote the cited lines.")
]


@views.command()
def rules(
    as_json: Json = False,
    coverage: Annotated[bool, typer.Option(help="Account for the lines of the designs.")] = False,
) -> int:
    """List the rules and what stands behind each."""
    from harness.cli.catalogue import rules as body

    return body(as_json=as_json, coverage=coverage)


@views.command()
def explain(
    rule: Annotated[str, typer.Argument(help="A rule id, like MIG-003.")],
    designs: DesignsFolder = None,
    as_json: Json = False,
) -> int:
    """One rule: its text, judge, scenarios, mutants and last findings."""
    from harness.cli.catalogue import explain as body

    return body(rule, designs=designs, as_json=as_json)


@views.command()
def runs(
    html: Annotated[Path | None, typer.Option(help="A sortable page in this file.")] = None,
    as_json: Json = False,
) -> int:
    """List the runs in runs/ (or the folder that TIDEMARK_RUNS names), newest last."""
    from harness.cli.runs import run

    return run(html=html, as_json=as_json)


@views.command()
def report(
    run: Annotated[str, typer.Argument(help="A run by its number or folder.")],
    open_: Annotated[bool, typer.Option("--open", help="Draw report.html and open it.")] = False,
    html: Annotated[Path | None, typer.Option(help="Draw the page into this file.")] = None,
    around: Annotated[
        int | None, typer.Option(metavar="OP", help="Only what happened near this operation.")
    ] = None,
    bundle: Annotated[
        bool, typer.Option("--bundle", help="Pack it for an issue: tidemark-RUN.zip, here.")
    ] = False,
    allure: Annotated[
        bool,
        typer.Option(
            "--allure", help="Add it (or a night) to the results; draw allure-report.html, here."
        ),
    ] = False,
    designs: DesignsFolder = None,
    as_json: Json = False,
) -> int:
    """Show a judged run again: in the terminal, as a page, or as files to hand on."""
    from harness.cli.report import Wanted
    from harness.cli.report import run as body

    wanted = Wanted(
        open=open_,
        html=html,
        around=around,
        bundle=bundle,
        allure=allure,
        designs=designs,
        as_json=as_json,
    )
    return body(run, wanted)


@views.command()
def compare(
    runs: Annotated[list[str], typer.Argument(help="Two or more runs, by number or folder.")],
    last_good: Annotated[
        bool, typer.Option("--last-good", help="Against the last conformant run before the first.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="The whole matrix, in this file.")] = None,
    as_json: Json = False,
) -> int:
    """Rules against runs: where they differ."""
    from harness.cli.compare import run

    return run(runs, last_good=last_good, html=html, as_json=as_json)
