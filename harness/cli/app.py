"""The commands, each one a thin wrapper around a body that lives beside it.

Bodies are imported when their command runs: Spark, Arrow and DuckDB together take seconds to
import, and `--help` needs none of them. A body returns its exit code; a wrong option, a wrong file
or a missing tool is a sentence on stderr and exit 64, never a traceback.
"""

import io
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.view_commands import views
from harness.errors import Stopped, UsageError

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
        if code == 130:  # of an interrupt that no body answered: the library ends without a word
            raise Stopped
    except typer.TyperException as mistake:
        print(f"tidemark: {mistake.format_message()}", file=sys.stderr)
        print(f"tidemark: {_help_for(arguments)}", file=sys.stderr)
        code = UsageError.exit_code
    except (KeyboardInterrupt, typer.Abort, Stopped) as stop:
        for line in (str(stop) or "stopped").splitlines():
            print(f"tidemark: {line}", file=sys.stderr)
        code = 130
    except Exception as mistake:
        from harness.cli.mistakes import tell

        code = tell(mistake)
    sys.exit(code)


def _help_for(arguments: list[str]) -> str:
    """Which help answers a mistake in these arguments."""
    from reports.terminal import called_as

    listed = (*app.registered_commands, *views.registered_commands)
    known = {one.callback.__name__ for one in listed if one.callback}
    if arguments[0] in known:
        return f"`{called_as()} {arguments[0]} --help` lists its options."
    return f"`{called_as()} --help` lists commands and options."


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
    orders: Annotated[
        Path | None,
        typer.Option(help="Take orders in this folder: start nodes, cut links; see docs/examples."),
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
        orders=orders,
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
    where: Annotated[
        Path, typer.Argument(help="A campaign (TOML) or a folder of them: nemesis/campaigns.")
    ],
    sut: Annotated[
        str, typer.Option(help="`reference`, `apache-kafka`, or a SUT file.")
    ] = "reference",
    world: Annotated[str | None, typer.Option(help="sim, process, docker or external.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Where all chance comes from.")] = 1,
    engine: Engine = "spark",
    out: Annotated[Path | None, typer.Option(help="Run folder; default runs/<next>.")] = None,
    as_json: Json = False,
    lasts: Annotated[
        str | None, typer.Option("--for", metavar="8h", help="Go on, seed after seed, so long.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with a night that was stopped.")] = False,
    disk_gb: Annotated[float, typer.Option(min=0.01, help="Keep no more than this of it.")] = 10,
) -> int:
    """Break one deployment of all roles as files say, for a night if told, and judge it."""
    from harness.cli import campaign as body
    from harness.cli.certify import Options

    options = Options(sut=sut, world=world, seed=seed, engine=engine, out=out, as_json=as_json)
    if not where.is_dir() and lasts is None and not resume:
        return body.run(where, options)
    from harness.cli import night

    seconds = None if lasts is None else night.seconds_of(lasts)
    bounds = night.Bounds(seconds=seconds, disk_bytes=int(disk_gb * (1 << 30)))
    return night.run(where, options, bounds, resume=resume)


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
PlaySeed = Annotated[int, typer.Option(help="With --by and --sound: of what is played first.")]
Sound = Annotated[int, typer.Option(help="Play so many seeds of the sound reference instead.")]
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
    sound: Sound = 0,
    record: Renew = False,
    as_json: Json = False,
) -> int:
    """Prove the judges: every mutant must be caught through recorded evidence."""
    if sound:
        from harness.cli.sound import run as run_soundly

        return run_soundly(
            profiles=profile or (), seeds=sound, first=seed, world=world, as_json=as_json
        )
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
def remote_metadata(
    bootstrap: Annotated[str, typer.Option(metavar="HOST:PORT", help="Any broker of a cluster.")],
    partition: Annotated[
        int | None, typer.Option(min=0, help="Only this partition of the topic.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="NAME=VALUE",
            help="print.partition, print.message.offset, print.version,"
            " print.all.event.value.fields (true), separator; repeatable.",
        ),
    ] = None,
) -> int:
    """Print what __remote_log_metadata says of remote segments, a line an event."""
    from harness.cli.remote_metadata import run

    return run(bootstrap, partition=partition, properties=setting or ())


@app.command()
def bench(
    rows: Annotated[list[str] | None, typer.Argument(help="Which rows; all if none.")] = None,
    as_json: Json = False,
) -> int:
    """Measure the project's own parts against baselines in the same run."""
    from harness.cli.bench import run

    return run(rows or (), as_json=as_json)


app.add_typer(views)
