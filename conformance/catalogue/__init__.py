"""Every rule of every profile."""

from conformance.catalogue import kafka, migration
from harness.rules import Catalogue

CATALOGUE = Catalogue((*kafka.RULES, *migration.RULES))
PROFILES = ("classic", "migration")
"""The profiles that `certify` can play; `check` judges histories by all of them."""
