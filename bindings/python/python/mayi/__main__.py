"""The command ``mayi``, the same as the program of that name: ``python -m mayi``."""

import signal
import sys

from ._mayi import main as _main


def main() -> None:
    """Runs the command with the arguments of the process, and exits with the command's exit status."""
    # Ctrl-C ends the command at once, like any program; Python would only record that it was pressed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_main(["mayi", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
