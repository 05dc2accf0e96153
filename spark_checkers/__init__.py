"""Judging histories: silver tables in, exercise counts, violations and verdicts out."""
