"""Histories made up: good ones from a simulated log, the same with one anomaly planted, big ones.

`simulate` and `simulate_micro` play a small cluster, event by event, by seed and shape. `PLANTS`
and `MICRO_PLANTS` break one promise each. `write_bulk` lays out histories of any size as tables.
"""

from spark_checkers.synthetic.append_plants import APPEND_PLANTS
from spark_checkers.synthetic.bulk import write_bulk
from spark_checkers.synthetic.drafts import Plant, Planted
from spark_checkers.synthetic.fetch_plants import FETCH_PLANTS
from spark_checkers.synthetic.lineage_plants import LINEAGE_PLANTS
from spark_checkers.synthetic.micro import MicroShape, simulate_micro
from spark_checkers.synthetic.micro_cycles import CYCLE_PLANTS
from spark_checkers.synthetic.micro_plants import READ_PLANTS
from spark_checkers.synthetic.shape import Shape
from spark_checkers.synthetic.simulated import Simulated, simulate

PLANTS: tuple[Plant, ...] = (*APPEND_PLANTS, *FETCH_PLANTS, *LINEAGE_PLANTS)
MICRO_PLANTS: tuple[Plant, ...] = (*READ_PLANTS, *CYCLE_PLANTS)

__all__ = [
    "MICRO_PLANTS",
    "PLANTS",
    "MicroShape",
    "Plant",
    "Planted",
    "Shape",
    "Simulated",
    "simulate",
    "simulate_micro",
    "write_bulk",
]
