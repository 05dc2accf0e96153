"""The command line. Nothing is imported until a command runs, so that `--help` stays quick."""

import sys


def main() -> None:
    """Run the command named on the command line; the entry point of the console script."""
    try:
        from harness.cli.app import main as run

        run()
    except KeyboardInterrupt:  # before the commands are there to answer it, or after the last
        print("tidemark: stopped", file=sys.stderr)
        sys.exit(130)
