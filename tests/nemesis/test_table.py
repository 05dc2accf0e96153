"""The table in the README says what the faults say."""

from __future__ import annotations

from harness.deployments.offers import OFFERS
from nemesis.faults import FAULTS
from nemesis.table import README, renewed, table, where_possible


def test_the_readme_has_the_table_of_today() -> None:
    text = README.read_text(encoding="utf-8")

    assert text == renewed(text), "python -m nemesis.table renews it"


def test_a_fault_is_possible_where_all_its_levers_are_and_a_clients_everywhere() -> None:
    rows = {row.split("`")[1]: row.split(" | ") for row in table().splitlines()[2:]}
    places = list(OFFERS)
    last = {name: dict(zip(places, row[-len(places) :], strict=True)) for name, row in rows.items()}

    assert last["disk-full"]["sim", "reference"] == "yes"
    assert last["disk-full"]["process", "reference"] == ""
    assert last["lose-reply"]["external", "with hooks"] == "yes"
    assert last["delay"]["external", "with hooks"] == "yes"
    assert last["cut"]["external", "by address"].strip(" |") == ""
    assert last["object-store-broken"]["process", "Apache Kafka"] == "yes"
    assert last["control-plane-broken"]["process", "Apache Kafka"] == ""
    assert last["object-store-reply-lost"]["external", "with hooks"] == ""
    assert last["kill"]["external", "by address"].startswith("clients")
    assert last["zombie"]["external", "by address"].strip(" |") == ""


def test_every_fault_can_be_done_somewhere() -> None:
    for fault in FAULTS.values():
        assert "yes" in [where_possible(fault, offer) for offer in OFFERS.values()], fault.name
