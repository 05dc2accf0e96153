"""python -m harness.deployments.apache_kafka: a real Kafka in a folder, until SIGINT or SIGTERM."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from harness.deployments.apache_kafka import VERSION, ApacheKafka
from harness.errors import LabError
from harness.processes.signals import wait_for_signal

INTERRUPTED = 130


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m harness.deployments.apache_kafka", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="new or empty; data and logs stay there")
    parser.add_argument("--nodes", type=int, choices=(1, 3), default=1)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a broker setting"
    )
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    settings = dict(one.split("=", 1) for one in options.set)
    try:
        with ApacheKafka(folder=options.folder, nodes=options.nodes, settings=settings) as kafka:
            print(f"Apache Kafka {VERSION} at {kafka.bootstrap}", flush=True)
            wait_for_signal()
    except LabError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
