"""Trials of the reference: what Hypothesis draws for it, judged by the catalogue."""
