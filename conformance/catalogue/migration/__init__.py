"""Rules of the tiered-to-diskless migration."""

from conformance.catalogue.migration import boundary, register, seeds

RULES = (*boundary.RULES, *register.RULES, *seeds.RULES)
