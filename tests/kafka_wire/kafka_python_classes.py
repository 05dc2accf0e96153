"""kafka-python's messages; importing them warns, because of what Python would not have used."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    _PACKAGES = [
        importlib.import_module(f"kafka.protocol.{name}")
        for name in ("admin", "consumer", "metadata", "producer")
    ]


def class_named(name: str) -> Any:
    """The class of that name, if there is one."""
    for package in _PACKAGES:
        if hasattr(package, name):
            return getattr(package, name)
    return None
