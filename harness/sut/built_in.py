"""The systems that the lab starts itself, by name: the reference and Apache Kafka."""

from __future__ import annotations

from harness.errors import UsageError
from harness.processes.kafka_release import VERSION
from harness.sut.adapter import ADAPTERS, BROKERS, CONTROL_PLANE, OBJECT_STORE, Adapter, register
from harness.sut.lever_sets import ALL, LEVER_SETS
from harness.sut.model import Reference, Sut

CONTROL_PLANES: tuple[str, ...] = ("memory", "postgres")
_STARTED = "{sut} is started by the lab; external are systems of SUT files"


def reference_sut(
    *,
    control_plane: str | None = None,
    mutants: tuple[str, ...] = (),
    levers: str = ALL,
    version: str = "2026.1",
) -> Sut:
    """The built-in reference, whole or with decisions made wrong on purpose."""
    if control_plane is not None and control_plane not in CONTROL_PLANES:
        known = ", ".join(CONTROL_PLANES)
        raise UsageError(f"the reference has no control plane {control_plane!r}; known: {known}")
    if levers not in LEVER_SETS:
        raise UsageError(f"there are no levers {levers!r}; known: {', '.join(LEVER_SETS)}")
    return Sut(
        name="reference",
        version=version,
        profiles=("classic", "tiered", "migration"),
        reference=Reference(control_plane=control_plane, mutants=mutants, levers=levers),
    )


def apache_kafka_sut(*, version: str = VERSION) -> Sut:
    """Apache Kafka, started from its jars or its image (`harness/deployments/apache_kafka`)."""
    return Sut(
        name="apache-kafka", version=version, profiles=("classic", "tiered"), variants=("kafka4",)
    )


register(
    Adapter(
        name="reference",
        worlds=("process", "sim", "docker"),
        elsewhere={"external": _STARTED},
        starts=frozenset({BROKERS, CONTROL_PLANE, OBJECT_STORE}),
        by_our_reading=True,
        built_in=reference_sut,
    )
)
register(
    Adapter(
        name="apache-kafka",
        worlds=("process", "docker"),
        elsewhere={
            "sim": "{sut} cannot be simulated: only the reference can",
            "external": _STARTED,
        },
        starts=frozenset({BROKERS}),
        built_in=apache_kafka_sut,
    )
)


def built_in_names() -> list[str]:
    """What can be named instead of a SUT file."""
    return [name for name, adapter in ADAPTERS.items() if adapter.built_in]


def built_in_sut(name: str) -> Sut | None:
    """A built-in system by its name."""
    adapter = ADAPTERS.get(name)
    return adapter.built_in() if adapter and adapter.built_in else None
