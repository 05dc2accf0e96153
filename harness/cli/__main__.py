"""`python -m harness.cli`: what the launcher starts."""

from harness.cli import main

main()
