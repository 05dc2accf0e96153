"""The commands, each one a thin wrapper around a body that lives beside it.

Bodies are imported when their command runs: Spark, Arrow and DuckDB together take seconds to
import, and `--help` needs none of them. A body returns its exit code; a wrong option, a wrong file
or a missing tool is a sentence on stderr and exit 64, never a traceback.
"""

import io
import signal
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Annotated

import typer

USAGE = 64
BROKEN = 3

app = typer.Typer(
    name="tidemark",
    help="Decides whether a tiered or diskless Kafka keeps its promises, and shows the evidence.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run a command and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # SIGINT too: a background job inherits it as ignored, and could not be stopped by it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    arguments = sys.argv[1:] or ["--help"]
    try:
        code = app(args=arguments, prog_name="tidemark", standalone_mode=False)
    except typer.TyperException as mistake:
        print(f"tidemark: {mistake.format_message()}", file=sys.stderr)
        print("tidemark: `./tidemark --help` lists commands and options.", file=sys.stderr)
        code = USAGE
    except (KeyboardInterrupt, typer.Abort):
        print("tidemark: stopped; what was recorded is kept", file=sys.stderr)
        code = 130
    except Exception as mistake:
        code = _sentence(mistake)
    sys.exit(code)


def _sentence(mistake: Exception) -> int:
    """What a user is told, and the exit code; what nobody foresaw is the lab's own fault."""
    from harness.cli.progress import printable
    from harness.errors import LabError
    from harness.history.errors import HistoryError, ShardWriteFailed, no_room
    from harness.processes.java import JavaMissing
    from harness.rules import CatalogueError
    from reference_impl.decisions import DecisionError
    from spark_checkers.linearizability import LinearizabilityError

    expected = (CatalogueError, DecisionError, HistoryError, JavaMissing, LinearizabilityError)
    if no_room(mistake):
        code, mistake = BROKEN, Exception(f"{mistake}".partition("\n")[0])
    elif isinstance(mistake, LabError):
        code = mistake.exit_code
    elif isinstance(mistake, ShardWriteFailed | OSError):
        code = BROKEN
    elif isinstance(mistake, expected):
        code = USAGE
    else:
        traceback.print_exception(mistake)
        code, mistake = BROKEN, Exception("this is a defect of the lab, not of the system")
    for line in map(printable, f"tidemark: {mistake}".splitlines()):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        for piece in textwrap.wrap(line, 80, subsequent_indent=indent, break_on_hyphens=False):
            print(piece, file=sys.stderr)
    return code


@app.callback()
def _root() -> None:
    """Keeps commands named even while there is only one."""


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable, on stdout.")] = False,
) -> int:
    """Say what this machine offers, and what each missing thing costs."""
    from harness.cli.doctor import run

    return run(as_json=as_json)


@app.command()
def test(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="lint, unit, conformance, sim, spark, process, or all; by default what is quick."
            " explore: property tests and state machines with examples drawn anew.",
        ),
    ] = None,
    allure: Annotated[bool, typer.Option("--allure", help="Write allure-results/ too.")] = False,
) -> int:
    """Run the project's own tests through tox."""
    from harness.cli.testing import run

    return run(names or (), allure=allure)


@app.command()
def serve(
    brokers: Annotated[int, typer.Option(min=1, max=64, help="How many brokers.")] = 1,
    racks: Annotated[str, typer.Option(help="Racks of the brokers in turn: a,b,c.")] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the first broker; 0: any that is free.")
    ] = 9092,
    data: Annotated[
        Path | None, typer.Option(help="Keep the data here; by default it is thrown away.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="A broker's property; repeatable."),
    ] = None,
    mutant: Annotated[
        list[str] | None, typer.Option(metavar="MODULE:NAME", help="Make a decision wrong.")
    ] = None,
    store: Annotated[
        str, typer.Option(help="Of objects: folder (with the data), s3 (a server), or a URL.")
    ] = "folder",
    control_plane: Annotated[
        str | None, typer.Option(help="postgres (a server), or a database; default: none.")
    ] = None,
) -> int:
    """Run a reference cluster for any Kafka client, until it is stopped."""
    from harness.cli.serve import run

    return run(
        brokers=brokers,
        racks=racks,
        port=port,
        data=data,
        properties=setting or (),
        mutants=mutant or (),
        store=store,
        control_plane=control_plane,
    )


Json = Annotated[bool, typer.Option("--json", help="Machine-readable, alone on stdout.")]
Engine = Annotated[str, typer.Option(help="spark, or inline (DuckDB, needs no Java).")]
Rules = Annotated[list[str] | None, typer.Option("--rule", help="Only this rule; repeatable.")]


@app.command()
def certify(
    sut: Annotated[
        str, typer.Argument(help="`reference`, `apache-kafka`, or a SUT file (TOML).")
    ] = "reference",
    profile: Annotated[list[str] | None, typer.Option(help="Only this profile.")] = None,
    rule: Rules = None,
    world: Annotated[str | None, typer.Option(help="sim, process, docker or external.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Where all chance comes from.")] = 1,
    rounds: Annotated[int, typer.Option(min=0, help="Rounds of concurrent work.")] = 2,
    engine: Engine = "spark",
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    mutant: Annotated[
        list[str] | None, typer.Option(help="Break the reference: module:name or FILE.py:name.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder; default runs/<next>.")] = None,
    as_json: Json = False,
) -> int:
    """Drive a system through workloads and faults, judge it, and say what it is worth."""
    from harness.cli import certify as body

    return body.run(
        body.Options(
            sut=sut,
            profiles=tuple(profile or ()),
            rules=tuple(rule or ()),
            world=world,
            seed=seed,
            rounds=rounds,
            engine=engine,
            master=master,
            mutants=tuple(mutant or ()),
            out=out,
            as_json=as_json,
        )
    )


@app.command()
def campaign(
    file: Annotated[Path, typer.Argument(help="A campaign (TOML): nemesis/campaigns/*.toml.")],
    sut: Annotated[
        str, typer.Option(help="`reference`, `apache-kafka`, or a SUT file.")
    ] = "reference",
    world: Annotated[str | None, typer.Option(help="sim, process, docker or external.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Where all chance comes from.")] = 1,
    engine: Engine = "spark",
    out: Annotated[Path | None, typer.Option(help="Run folder; default runs/<next>.")] = None,
    as_json: Json = False,
) -> int:
    """Play the steps of a file on one deployment of all roles, and judge what came of it."""
    from harness.cli import campaign as body
    from harness.cli.certify import Options

    options = Options(sut=sut, world=world, seed=seed, engine=engine, out=out, as_json=as_json)
    return body.run(file, options)


@app.command()
def replay(
    run: Annotated[str, typer.Argument(help="A run by its number or folder.")],
    rule: Rules = None,
    engine: Annotated[str | None, typer.Option(help="spark or inline; default as before.")] = None,
    until_op: Annotated[
        int | None, typer.Option(min=0, help="Stop once the event of this index is recorded.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Repeat a run: as its header says, or step by step if a trial recorded it."""
    from harness.cli.replay import run as body

    return body(run, rules=rule or (), engine=engine, until_op=until_op, as_json=as_json)


@app.command()
def check(
    where: Annotated[
        str,
        typer.Argument(
            help="A history file, a run, a folder of runs, s3://bucket/prefix?endpoint=…"
        ),
    ],
    model: Annotated[
        str | None, typer.Option(help="log, kafka, register, cas-register, kv, mutex.")
    ] = None,
    initial: Annotated[str, typer.Option(help="First value of a register.")] = "nil",
    ww_deps: Annotated[
        bool, typer.Option("--ww-deps", help="kafka: the order of writes makes dependencies.")
    ] = False,
    engine: Annotated[
        str | None, typer.Option(help="spark or inline; default: inline if it is small.")
    ] = None,
    master: Annotated[str | None, typer.Option(help="Spark master.")] = None,
    as_json: Json = False,
) -> int:
    """Judge recorded histories: ours, Jepsen EDN, Jepsen console lines, Kafka JSON."""
    from harness.cli.check import Asked, run

    asked = Asked(model=model, initial=initial, ww_deps=ww_deps, engine=engine, master=master)
    return run(where, asked, as_json=as_json)


@app.command()
def shrink(
    where: Annotated[
        str, typer.Argument(help="A history file, a run by its number or folder, s3://…")
    ],
    finding: Annotated[
        str | None,
        typer.Option(help="A rule (MIG-003) or an anomaly (lost-write); default: the first bad."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="As for check.")] = None,
    initial: Annotated[str, typer.Option(help="First value of a register.")] = "nil",
    ww_deps: Annotated[bool, typer.Option("--ww-deps", help="As for check.")] = False,
    budget: Annotated[int, typer.Option(min=1, help="Sub-histories to try at most.")] = 2_000,
    out: Annotated[
        Path | None, typer.Option(help="Where to; default NAME.shrunk.jsonl, here.")
    ] = None,
    as_json: Json = False,
) -> int:
    """The smallest part of a history that still shows a finding."""
    from harness.cli.check_one import Asked
    from harness.cli.shrink import run

    asked = Asked(model=model, initial=initial, ww_deps=ww_deps, engine="inline")
    return run(where, asked, finding=finding, budget=budget, out=out, as_json=as_json)


@app.command()
def rules(
    as_json: Json = False,
    coverage: Annotated[bool, typer.Option(help="Account for the lines of the designs.")] = False,
) -> int:
    """List the rules and what stands behind each."""
    from harness.cli.catalogue import rules as body

    return body(as_json=as_json, coverage=coverage)


@app.command()
def explain(rule: Annotated[str, typer.Argument(help="A rule id, like MIG-003.")]) -> int:
    """One rule: its text, judge, scenarios, mutants and last findings."""
    from harness.cli.catalogue import explain as body

    return body(rule)


Derived = Annotated[bool, typer.Option("--derived", help="Mutants derived from every decision.")]
Decisions = Annotated[list[str] | None, typer.Option(help="With --by: of these decisions only.")]
MutantsOf = Annotated[list[str] | None, typer.Option(help="With --by: of these profiles only.")]
DetectedBy = Annotated[
    str | None,
    typer.Option(help="Measure what programs, or the campaign (the default run), detect."),
]
LeverSet = Annotated[
    str, typer.Option(help="With --by: address, process-hook, process-hook-and-cuts or all.")
]
Sample = Annotated[int, typer.Option(help="With --by: so many, the same each time; 0 is all.")]
PlaySeed = Annotated[int, typer.Option(help="With --by: of what is played.")]
Renew = Annotated[
    bool, typer.Option(help="Renew conformance/kill_matrix.json, or detection.json if derived.")
]


@app.command()
def selfcheck(
    rule: Rules = None,
    world: Annotated[str, typer.Option(help="sim or process.")] = "sim",
    mutants: Annotated[Path | None, typer.Option(help="A file with mutants of yours.")] = None,
    derived: Derived = False,
    decision: Decisions = None,
    profile: MutantsOf = None,
    by: DetectedBy = None,
    levers: LeverSet = "all",
    sample: Sample = 0,
    seed: PlaySeed = 1,
    record: Renew = False,
    as_json: Json = False,
) -> int:
    """Prove the judges: every mutant must be caught through recorded evidence."""
    if derived or by is not None:
        from harness.cli import detection

        return detection.run(
            detection.Options(
                derived=derived,
                mutants=mutants,
                decisions=decision or (),
                profiles=profile or (),
                by=by or "programs",
                world=world,
                levers=levers,
                sample=sample,
                seed=seed,
                record=record,
                as_json=as_json,
            )
        )
    from harness.cli.selfcheck import run

    return run(rules=rule or (), world=world, mutants=mutants, as_json=as_json, record=record)


@app.command()
def runs() -> int:
    """List the runs in runs/, newest last."""
    from harness.cli.runs import run

    return run()


@app.command()
def report(run: Annotated[str, typer.Argument(help="A run by its number or folder.")]) -> int:
    """Show a judged run again."""
    from harness.cli.report import run as body

    return body(run)


@app.command()
def compare(
    runs: Annotated[list[str], typer.Argument(help="Two or more runs, by number or folder.")],
) -> int:
    """Rules against runs: where they differ."""
    from harness.cli.compare import run

    return run(runs)


@app.command()
def bench(
    rows: Annotated[list[str] | None, typer.Argument(help="Which rows; all if none.")] = None,
    as_json: Json = False,
) -> int:
    """Measure the project's own parts against baselines in the same run."""
    from harness.cli.bench import run

    return run(rows or (), as_json=as_json)
