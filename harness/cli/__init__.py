"""The command line. Nothing is imported until a command runs, so that `--help` stays quick."""


def main() -> None:
    """Run the command named on the command line; the entry point of the console script."""
    from harness.cli.app import main as run

    run()
