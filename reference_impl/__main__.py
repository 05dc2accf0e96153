"""``python -m reference_impl``: parts of the reference as processes of their own.

    python -m reference_impl control-plane --dsn DSN [--mutant module:name]…
                                           [--trace FILE --node N --clock C]
    python -m reference_impl controller|broker --node-id N … (``live/node.py``)

Exit status: 0 the input ended, 3 the control plane could not be made ready, 64 a mistake in the
arguments, 130 interrupted. Mistakes are one line on stderr.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from reference_impl.control_plane.agent import serve
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.control_plane.trace import TraceFile
from reference_impl.decisions import DecisionError, Mutant, SqlMutant, apply, load_mutant
from reference_impl.live.options import add_node_arguments
from reference_impl.ports.control_plane import ControlPlane
from reference_impl.ports.effects import Gate, OpenGate, TracingGate

MEMORY = "memory:"
NOT_READY = 3
INTERRUPTED = 130
USAGE = 64


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail(USAGE, message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one part of the reference; returns the exit status."""
    # Whatever was inherited: a background job is started with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _control_plane(options: argparse.Namespace) -> int:
    if options.trace is not None and (options.node is None or options.clock is None):
        _fail(USAGE, "--trace needs --node and --clock")
    mutants, sql_mutants = _mutants(options.mutant)
    if sql_mutants and options.dsn == MEMORY:
        _fail(USAGE, f"mutant {sql_mutants[0].name!r} edits SQL; {MEMORY} has none")
    gate: Gate = OpenGate()
    if options.trace is not None:
        gate = TracingGate(TraceFile(options.trace, node=options.node, clock=options.clock))
    plane: ControlPlane
    if options.dsn == MEMORY:
        plane = MemoryControlPlane(Registers(), gate=gate)
    else:
        plane = _postgres(options, sql_mutants, gate)
    names = [*(one.name for one in mutants), *(one.name for one in sql_mutants)]
    try:
        serve(plane, lines_in=sys.stdin.buffer, lines_out=sys.stdout.buffer, mutants=names)
    except KeyboardInterrupt:
        return INTERRUPTED
    # If the reader went away, what is left in the buffer has nowhere to go; say nothing about it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _node(options: argparse.Namespace) -> int:
    _, sql_mutants = _mutants(options.mutant)
    if sql_mutants:
        _fail(USAGE, f"mutant {sql_mutants[0].name!r} edits SQL; a {options.part} has none")
    # Here and not above: the other parts start without Kafka's messages.
    from reference_impl.live.node import run

    return run(options, dict(options.property))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m reference_impl", description="Parts of the reference.")
    parts = parser.add_subparsers(required=True, metavar="PART")
    add_node_arguments(parts, _node)
    agent = parts.add_parser("control-plane", help="the control plane as JSON lines on stdio")
    agent.set_defaults(run=_control_plane)
    agent.add_argument("--dsn", required=True, help=f"a PostgreSQL database, or {MEMORY}")
    agent.add_argument("--mutant", action="append", default=[], metavar="MODULE:NAME")
    agent.add_argument("--trace", type=Path, metavar="FILE", help="append effect lines here")
    agent.add_argument("--node", type=int, help="node number of the effect lines")
    agent.add_argument("--clock", help="name of the clock of the effect lines")
    agent.add_argument("--call-timeout-s", type=float, default=8.0, help="longest wait for a call")
    agent.add_argument(
        "--no-install", action="store_true", help="use the database's schema as it is"
    )
    return parser


def _mutants(references: Sequence[str]) -> tuple[list[Mutant], list[SqlMutant]]:
    python: list[Mutant] = []
    sql: list[SqlMutant] = []
    try:
        for reference in references:
            mutant = load_mutant(reference)
            if isinstance(mutant, SqlMutant):
                sql.append(mutant)
            else:
                apply(mutant)
                python.append(mutant)
    except DecisionError as problem:
        _fail(USAGE, str(problem))
    return python, sql


def _postgres(
    options: argparse.Namespace, mutants: Sequence[SqlMutant], gate: Gate
) -> ControlPlane:
    # Here and not above: an agent in memory starts without loading a database driver.
    import psycopg

    from reference_impl.control_plane.migrations import MigrationError, install
    from reference_impl.control_plane.postgres import PostgresControlPlane, Timeouts

    try:
        if mutants or not options.no_install:
            install(options.dsn, mutants=mutants, upto=0 if options.no_install else None)
    except (MigrationError, DecisionError) as problem:
        _fail(NOT_READY, str(problem))
    except psycopg.Error as problem:
        # A database that cannot be reached now may come back, and every call connects if it must.
        # Not so with mutants: an agent that only seems mutated would prove nothing.
        if mutants or not isinstance(problem, psycopg.OperationalError):
            _fail(NOT_READY, f"no schema at {options.dsn}: {problem}")
        print(f"no database at {options.dsn} yet: {problem}", file=sys.stderr, flush=True)
    timeouts = Timeouts.within(options.call_timeout_s)
    return PostgresControlPlane(options.dsn, timeouts=timeouts, gate=gate)


def _fail(status: int, message: str) -> NoReturn:
    print(f"reference_impl: {message}".strip(), file=sys.stderr)
    raise SystemExit(status)


if __name__ == "__main__":
    raise SystemExit(main())
