"""The catalogue of rules, the scenarios that exercise them, and the mutants that break them."""
