"""The table fault × world × system in the README; `python -m nemesis.table` renews it."""

from __future__ import annotations

from pathlib import Path

from harness.deployments.deployment import Role
from harness.deployments.offers import OFFERS, Offer
from nemesis.fault import Fault
from nemesis.faults import FAULTS
from nemesis.offered import OF_CLIENTS
from nemesis.targets import Takes

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- the table: python -m nemesis.table -->\n", "<!-- end of the table -->\n"


def table() -> str:
    """Every fault: what it does, what shows that it landed, and where it can be done."""
    places = [f"{world}: {system}" for world, system in OFFERS]
    rows = [
        ["fault", "does", "landed", "suspends", *places],
        ["---"] * (4 + len(places)),
        *(_row(fault) for fault in FAULTS.values()),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def renewed(text: str) -> str:
    """The README with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(fault: Fault) -> list[str]:
    landed = " and ".join(" or ".join(f"`{one}`" for one in group) for group in fault.landed)
    suspends = ", ".join(f"`{one}`" for one in dict.fromkeys(fault.suspends.values()))
    where = [where_possible(fault, offer) for offer in OFFERS.values()]
    return [f"`{fault.name}`", fault.does, landed, suspends, *where]


def where_possible(fault: Fault, offer: Offer) -> str:
    """Whether a fault can be done in a place: `yes`, to its `clients` alone, or not."""
    there = fault.takes in (Takes.NODES, Takes.LINKS) or offer.services.issuperset(fault.roles)
    if there and offer.levers.issuperset(fault.levers):
        return "yes"
    of_clients = Role.CLIENT in fault.roles and set(fault.levers) <= set(OF_CLIENTS)
    return "clients" if of_clients else ""


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
