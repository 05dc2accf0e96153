"""Every rule of every profile."""

from conformance.catalogue import kafka, kip_405, migration
from harness.rules import Catalogue

CATALOGUE = Catalogue((*kafka.RULES, *migration.RULES, *kip_405.RULES))
