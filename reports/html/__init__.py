"""The HTML report: one self-contained file per run, from disk, without network."""
