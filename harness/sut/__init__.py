"""Systems under test: what is known of one, how its file is read, what can go wrong."""

from harness.errors import (
    AdapterError,
    CannotConnect,
    LabBroken,
    LabError,
    ProtocolBreach,
    UsageError,
)
from harness.sut.adapter import WORLDS, Adapter, register
from harness.sut.built_in import apache_kafka_sut, reference_sut
from harness.sut.file import SutFileError, find_sut, read_sut
from harness.sut.model import (
    PROFILES,
    Hook,
    Reference,
    Sut,
    Waiver,
)

__all__ = [
    "PROFILES",
    "WORLDS",
    "Adapter",
    "AdapterError",
    "CannotConnect",
    "Hook",
    "LabBroken",
    "LabError",
    "ProtocolBreach",
    "Reference",
    "Sut",
    "SutFileError",
    "UsageError",
    "Waiver",
    "apache_kafka_sut",
    "find_sut",
    "read_sut",
    "reference_sut",
    "register",
]
