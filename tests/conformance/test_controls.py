"""Controls: clients and topics configured to lose or repeat data are found out, safe ones are not.

On Apache Kafka, which nobody here wrote, and on the reference, with confluent-kafka clients.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import campaign
from harness.cli.certify import Options

pytestmark = [pytest.mark.process, pytest.mark.slow]

KNOWN = Path(__file__).parents[2] / "nemesis" / "campaigns" / "known"
DUPLICATE, LOST, UNSEEN = "KFK-002", "KFK-005", "KFK-006"
CAUGHT = {
    "acks-of-the-leader": {LOST, UNSEEN},
    "unclean-election": {LOST, UNSEEN},
    "no-idempotence": {DUPLICATE},
    "transaction-timeout": {UNSEEN},
}
SAFE = ("safe", "transaction-in-time")


@pytest.mark.parametrize("sut", ["apache-kafka", "reference"])
@pytest.mark.parametrize("name", [*CAUGHT, *SAFE])
def test_a_control_is_caught_and_a_safe_configuration_is_clean(
    name: str, sut: str, tmp_path: Path
) -> None:
    file = KNOWN / f"{name}.toml"
    asked = Options(sut=sut, world="process", engine="inline", out=tmp_path / "run")

    code = campaign.run(file, asked)

    rules = json.loads((tmp_path / "run" / "verdict.json").read_text())["rules"]
    broken = {one["id"] for one in rules if one["verdict"] == "fail"}
    assert CAUGHT.get(name, set()) <= broken
    assert code == (1 if name in CAUGHT else 0), broken
    named = [one for one in rules if one["id"] in CAUGHT.get(name, set())]
    assert all(one["violations"] for one in named)
