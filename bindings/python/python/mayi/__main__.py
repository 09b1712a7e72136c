"""The command ``mayi``, the same as the program of that name: ``python -m mayi``."""

import signal
import sys

from ._mayi import main as _main


def main() -> None:
    """Runs the command with the words of the process, and ends it with the command's exit status."""
    # The command ends by Ctrl-C at once, as a program does; Python would only note that it was pressed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_main(["mayi", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
