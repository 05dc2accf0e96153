"""python -m harness.differential: record a Kafka's answers, or hold another cluster to them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.differential.agreement import compare_answers, told
from harness.differential.allowed import Allowed, read_allowed
from harness.differential.answers import ANSWERS, NoAnswers, Recording, read_recordings
from harness.differential.explore import explore
from harness.differential.generated_transactions import ALLOWED, drawn
from harness.differential.live import play_now, size_now
from harness.differential.sequences import all_sequences
from harness.differential.settling import NotPrepared
from harness.differential.varied import variants
from harness.differential.vary import AT_A_TIME, vary
from harness.history.differences import matches

AGREED, DIFFERENT, USAGE = 0, 1, 64
TICK = 100


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    command: int = options.command(options)
    return command


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m harness.differential", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="play recorded sequences and show what differs")
    run.add_argument("--bootstrap", required=True, type=_address, metavar="HOST:PORT")
    run.add_argument("--against", type=Path, default=ANSWERS, metavar="FOLDER")
    run.add_argument("--only", default="*", metavar="NAME", help="names, * for anything")
    run.add_argument("--strict", action="store_true", help="wording and order count, too")
    run.add_argument("--all", action="store_true", help="every difference, with its request")
    run.add_argument("--json", type=Path, metavar="FILE", help="write what was answered there")
    run.set_defaults(command=_run)
    record = commands.add_parser("record", help="play the sequences and keep the answers")
    record.add_argument("--bootstrap", required=True, type=_address, metavar="HOST:PORT")
    record.add_argument("--to", required=True, type=Path, metavar="FOLDER")
    record.add_argument("--oracle", required=True, metavar="NAME", help="whose answers they are")
    record.add_argument("--only", default="*", metavar="NAME")
    record.set_defaults(command=_record)
    explore_ = commands.add_parser("explore", help="make up sequences and compare two clusters")
    explore_.add_argument("--left", required=True, type=_address, metavar="HOST:PORT")
    explore_.add_argument("--right", required=True, type=_address, metavar="HOST:PORT")
    explore_.add_argument("--examples", type=int, default=200, metavar="N")
    explore_.add_argument("--seed", type=int, default=0, metavar="N")
    explore_.add_argument(
        "--ignore", action="append", default=[], metavar="PATH", help="look past this difference"
    )
    explore_.add_argument("--keep", type=Path, metavar="FOLDER", help="where a finding is kept")
    explore_.set_defaults(command=_explore)
    vary_ = commands.add_parser("vary", help="compare two clusters on variants of the sequences")
    vary_.add_argument("--left", required=True, type=_address, metavar="HOST:PORT")
    vary_.add_argument("--right", required=True, type=_address, metavar="HOST:PORT")
    vary_.add_argument("--only", default="*", metavar="NAME")
    vary_.add_argument("--transactions", action="store_true", help="made up ones in their place")
    vary_.add_argument("--most", type=int, default=1000, metavar="N")
    vary_.add_argument("--seed", type=int, default=0, metavar="N")
    vary_.add_argument("--at-a-time", type=int, default=AT_A_TIME, metavar="N")
    vary_.add_argument("--strict", action="store_true", help="wording and order count, too")
    vary_.add_argument("--keep", type=Path, metavar="FOLDER", help="where findings are kept")
    vary_.set_defaults(command=_vary)
    show = commands.add_parser("show", help="a sequence and its recorded answers, step by step")
    show.add_argument("name", metavar="NAME")
    show.add_argument("--against", type=Path, default=ANSWERS, metavar="FOLDER")
    show.set_defaults(command=_show)
    return parser


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def _run(options: argparse.Namespace) -> int:
    allowed = read_allowed()
    counts = {"agree": 0, "differ": 0, "excused": 0}
    answered = {}
    try:
        size = size_now(options.bootstrap)
        for recording in _chosen(options, size):
            try:
                seen = play_now(recording.sequence, options.bootstrap)
            except NotPrepared as problem:
                counts["differ"] += 1
                print(f"{recording.sequence.name}: {problem}", flush=True)
                continue
            answered[recording.sequence.name] = seen
            agreement = compare_answers(recording, seen, allowed)
            lines = list(told(agreement, strict=options.strict, all_of_it=options.all))
            counts["differ" if lines else "agree"] += 1
            counts["excused"] += agreement.excused
            for line in lines:
                print(line, flush=True)
    except (NoAnswers, ConnectionError) as problem:
        print(problem, file=sys.stderr)
        return USAGE
    if options.json:
        options.json.write_text(json.dumps(answered, indent=1), encoding="utf-8")
    print(
        f"{counts['agree']} of {counts['agree'] + counts['differ']} sequences agree,"
        f" {counts['differ']} differ; {counts['excused']} differences are allowed."
    )
    return DIFFERENT if counts["differ"] else AGREED


def _chosen(options: argparse.Namespace, size: int | None = None) -> list[Recording]:
    """The recordings that are asked for, and that a cluster of that size can be held to."""
    only = getattr(options, "only", None) or options.name
    named = [one for one in read_recordings(options.against) if matches(only, one.sequence.name)]
    if not named:
        raise NoAnswers(f"No recorded sequence is named {only}.")
    found = [one for one in named if size in (None, one.sequence.brokers)]
    if not found:
        raise NoAnswers(f"{only} needs a cluster of {named[0].sequence.brokers}; this has {size}.")
    return found


def _record(options: argparse.Namespace) -> int:
    """Each sequence is played twice: an answer that changes by itself is no answer to record."""
    unstable = 0
    size = size_now(options.bootstrap)
    for sequence in all_sequences():
        if not matches(options.only, sequence.name) or sequence.brokers != size:
            continue
        answers = play_now(sequence, options.bootstrap)
        recording = Recording(oracle=options.oracle, sequence=sequence, answers=answers)
        again = compare_answers(recording, play_now(sequence, options.bootstrap), [])
        lines = list(told(again, strict=False, all_of_it=False))
        if lines:
            unstable += 1
            print("\n".join(["NOT RECORDED, two plays differ:", *lines]), flush=True)
            continue
        recording.write(options.to)
        print(sequence.name, flush=True)
    return DIFFERENT if unstable else AGREED


def _explore(options: argparse.Namespace) -> int:
    found = explore(
        options.left,
        options.right,
        examples=options.examples,
        first_seed=options.seed,
        allowed=[*read_allowed(), *_ignored(options.ignore)],
        on_example=_tick,
    )
    if found.found is None:
        passing = f" ({found.passing} did not repeat themselves)" if found.passing else ""
        print(f"{found.examples} sequences, {found.requests} requests: no disagreement{passing}.")
        return AGREED
    print(f"After {found.examples} sequences, shrunk to:")
    for at, step in enumerate(found.found.recording.sequence.steps):
        print(f"  {at} {json.dumps(step.as_json(), ensure_ascii=False)}")
    for line in told(found.found.agreement, strict=False, all_of_it=True):
        print(line)
    if options.keep:
        found.found.recording.write(options.keep)
        print(f"kept in {options.keep}; `run --against {options.keep}` plays it again")
    return DIFFERENT


def _vary(options: argparse.Namespace) -> int:
    if options.transactions:
        sequences = drawn(options.most, options.seed)
    else:
        size = size_now(options.left)
        named = [
            one
            for one in all_sequences()
            if matches(options.only, one.name) and one.brokers == size
        ]
        sequences = [*named, *(variant for one in named for variant in variants(one))]
    found = vary(
        options.left,
        options.right,
        sequences,
        most=options.most,
        seed=options.seed,
        allowed=[*read_allowed(), ALLOWED],
        strict=options.strict,
        at_a_time=options.at_a_time,
        on_variant=_tick,
    )
    for number, ((api, path, left, right), examples) in enumerate(found.found.items()):
        recording, first = examples[0]
        sequence = recording.sequence
        print(f"{api} v{first.step.version} {path}: {left} / {right}, {len(examples)} times;")
        print(f"  {sequence.name}, {sequence.about}, seen in step {first.at}", flush=True)
        if options.keep:
            kept = replace(sequence, name=f"varied/{number:03}")
            replace(recording, sequence=kept).write(options.keep)
    print(
        f"{found.variants} variants, {found.requests} requests: {len(found.found)} kinds of"
        f" difference; {found.passing} did not repeat."
    )
    return DIFFERENT if found.found else AGREED


def _ignored(paths: Sequence[str]) -> list[Allowed]:
    """What is known already and would hide what is not."""
    return [Allowed(sequence="*", paths=paths, reason="told to look past it")]


def _tick(examples: int) -> None:
    if examples % TICK == 0:
        print(f"{examples} sequences …", file=sys.stderr, flush=True)


def _show(options: argparse.Namespace) -> int:
    try:
        chosen = _chosen(options)
    except NoAnswers as problem:
        print(problem, file=sys.stderr)
        return USAGE
    for recording in chosen:
        print(f"{recording.sequence.name}: {recording.sequence.about}")
        for step, answer in zip(recording.sequence.steps, recording.answers, strict=True):
            print(f"> {json.dumps(step.as_json(), ensure_ascii=False)}")
            print(f"< {json.dumps(answer, ensure_ascii=False)}")
    return AGREED


if __name__ == "__main__":
    raise SystemExit(main())
