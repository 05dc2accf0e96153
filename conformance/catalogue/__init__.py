"""Every rule of every profile."""

from conformance.catalogue import migration
from harness.rules import Catalogue

CATALOGUE = Catalogue(migration.RULES)
PROFILES = ("migration",)
