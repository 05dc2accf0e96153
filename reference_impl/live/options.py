"""The arguments of a node; light, so that a mistake in them is told at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reference_impl.live.services import BadService, check_control_plane, check_store
from reference_impl.ports.network import Address

Options = argparse.Namespace
PORTS = ("object_store", "control_plane", "network", "disk")
LOOPBACK = "127.0.0.1"
USUALLY_TRACED = PORTS[:2]  # the others have many effects for each request


Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_node_arguments(
    parts: argparse._SubParsersAction[Parser], run: Callable[[Options], int]
) -> None:
    """The parts ``controller`` and ``broker``."""
    for name in ("controller", "broker"):
        part = parts.add_parser(name, help=f"a {name} of the reference cluster, on TCP and files")
        part.set_defaults(run=run, part=name)
        part.add_argument("--node-id", type=int, required=True)
        part.add_argument("--cluster-id", required=True)
        part.add_argument("--listen", type=address, required=True, metavar="HOST:PORT")
        part.add_argument("--data", type=Path, required=True, metavar="FOLDER")
        part.add_argument("--from-host", metavar="HOST", help="connect to others from here")
        part.add_argument(
            "--property", action="append", default=[], type=pair, metavar="NAME=VALUE"
        )
        part.add_argument("--mutant", action="append", default=[], metavar="MODULE:NAME")
        part.add_argument("--store", type=store, metavar="URL", help="a folder or s3://…")
        part.add_argument(
            "--control-plane", type=control_plane, metavar="DSN", help="a PostgreSQL database"
        )
        part.add_argument(
            "--metrics-port", type=int, default=0, metavar="PORT", help="0: any that is free"
        )
        part.add_argument(
            "--metrics-host", default=LOOPBACK, metavar="HOST", help="where the page of metrics is"
        )
        part.add_argument("--trace", type=Path, metavar="FILE", help="append effect lines here")
        part.add_argument(
            "--trace-ports",
            type=traced_ports,
            default=USUALLY_TRACED,
            metavar="PORT,…",
            help=f"whose effects: {', '.join(PORTS)}; default: {', '.join(USUALLY_TRACED)}",
        )
        part.add_argument("--clock", help="name of the clock of the effect lines; default: PART-N")
        if name == "broker":
            part.add_argument("--controller", type=address, required=True, metavar="HOST:PORT")
            part.add_argument("--advertised", type=address, metavar="HOST:PORT")
            part.add_argument("--rack")


def address(text: str) -> Address:
    """``host:port`` as an address."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return Address(host, int(port))


def store(text: str) -> str:
    """Where the object store is."""
    return _service(check_store, text)


def control_plane(text: str) -> str:
    """Where the control plane is."""
    return _service(check_control_plane, text)


def traced_ports(text: str) -> tuple[str, ...]:
    """``object_store,disk``."""
    names = tuple(text.split(","))
    for name in names:
        if name not in PORTS:
            raise argparse.ArgumentTypeError(f"no port {name!r}; there are {', '.join(PORTS)}")
    return names


def _service(check: Callable[[str], str], text: str) -> str:
    try:
        return check(text)
    except BadService as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def pair(text: str) -> tuple[str, str]:
    """``name=value``."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value
