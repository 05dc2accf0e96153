"""Every rule of every profile."""

from conformance.catalogue import kafka, migration
from harness.rules import Catalogue

CATALOGUE = Catalogue((*kafka.RULES, *migration.RULES))
