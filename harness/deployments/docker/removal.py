"""Removing what carries an owner's label from an engine: containers, then networks and volumes."""

from __future__ import annotations

import contextlib
from typing import Any

from docker.errors import DockerException  # type: ignore[import-untyped]

OWNER = "tidemark.owner"


def remove_owned(client: Any, owner: str) -> int:
    """Remove everything of an owner, running or not; how many objects that was."""
    mine = {"label": f"{OWNER}={owner}"}
    removed = 0
    for one in client.containers.list(all=True, filters=mine, ignore_removed=True):
        with contextlib.suppress(DockerException):  # it may be going already
            one.remove(force=True, v=True)
            removed += 1
    for one in (*client.networks.list(filters=mine), *client.volumes.list(filters=mine)):
        with contextlib.suppress(DockerException):
            one.remove()
            removed += 1
    return removed
