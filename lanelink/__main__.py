"""`python -m lanelink`: the command `lanelink`."""

from __future__ import annotations

import sys

from lanelink.cli import main

if __name__ == "__main__":
    sys.exit(main())
